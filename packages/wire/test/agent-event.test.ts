import type { AnswerFormat } from '@agent-server/models'
import { asksForJson } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'

describe('A request', () => {
  it.each<[AnswerFormat | undefined, boolean]>([
    [{ type: 'json' }, true],
    [{ type: 'json-schema', name: 'a', schema: {} }, true],
    [undefined, false],
  ])('with the format %j asks for JSON: %s', (format, asks) => {
    const request = { messages: [], instructions: [], topK: 5, rewrite: true, clientTools: [] }
    expect(asksForJson({ ...request, sampling: { format } })).toBe(asks)
  })
})
