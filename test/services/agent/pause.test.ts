import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createPauses } from '../../../src/services/agent/pause.ts'
import { defineTool, type ToolContext } from '../../../src/services/tools/define-tool.ts'
import { createAgentForTest, endOf } from './agent-for-test.ts'
import { asks, says, toolCall } from './scripted-model.ts'

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

it('A run that goes on after it was stopped has the skills that it had activated', async () => {
  const seen: string[][] = []
  const toolThat = (name: string, use: (context: ToolContext) => void, approval = {}) =>
    defineTool({
      ...{ name, title: name, description: name, input: z.looseObject({}), ...approval },
      async run(_input, context) {
        use(context)
        return 'done'
      },
    })
  const activate = toolThat('activate', ({ activeSkills }) => activeSkills.add('a'))
  const look = toolThat('look', ({ activeSkills }) => seen.push([...activeSkills]), {
    approval: 'always',
  })
  const { events } = createAgentForTest({
    answers: [asks(toolCall('activate')), asks(toolCall('look')), says('ok')],
    tools: [activate, look],
  })
  const { state = '', calls = [] } = endOf(await events()).approval ?? {}
  await events({ resume: { state, approved: calls.map(({ callId }) => callId) } })
  expect(seen).toEqual([['a']])
})
