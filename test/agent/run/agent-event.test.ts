import type { AnswerFormat } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { asksForJson } from '../../../src/agent/run/agent-event.ts'
import { question } from './agent-for-test.ts'

describe('A request', () => {
  it.each<[AnswerFormat | undefined, boolean]>([
    [{ type: 'json' }, true],
    [{ type: 'json-schema', name: 'a', schema: {} }, true],
    [undefined, false],
  ])('with the format %j asks for JSON: %s', (format, asks) => {
    expect(asksForJson({ ...question('a'), sampling: { format } })).toBe(asks)
  })
})
