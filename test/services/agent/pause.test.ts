import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createPauses } from '../../../src/services/agent/pause.ts'

it('A stopped run that has gathered more than a client may send back is told, not sealed', () => {
  const { seal, open } = createPauses('a-key-of-the-server')
  const messages = [{ role: 'user' as const, content: 'Why?' }]
  const request = {
    conversation: { messages, instructions: [] },
    topK: 1,
    rewrite: false,
    sampling: {},
    clientTools: [],
  }
  const runOf = (content: string) => ({
    ...{ conversation: 'c', key: 'k', hits: [], chunks: 0, artifacts: [], degraded: false },
    spent: { rounds: 1, calls: 1, tokens: 0 },
    added: [{ role: 'user' as const, content }],
  })
  const fits = runOf('a'.repeat(100_000))
  expect(open(seal(fits, request), request)).toEqual(fits)
  const state = () => seal(runOf(randomBytes(6_100_000).toString('base64')), request)
  expect(state).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})
