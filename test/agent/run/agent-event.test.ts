import { describe, expect, it } from 'vitest'
import { asksForJson } from '../../../src/agent/run/agent-event.ts'
import { question } from './agent-for-test.ts'

describe('A request', () => {
  it.each([
    [undefined, false],
    [{ type: 'text' }, false],
    [{ type: 'json_object' }, true],
    [{ type: 'json_schema', json_schema: { name: 'a', schema: {} } }, true],
    [{}, false],
  ])('with the response format %j asks for JSON: %s', (responseFormat, asks) => {
    expect(asksForJson({ ...question('a'), sampling: { responseFormat } })).toBe(asks)
  })
})
