import { describe, expect, it } from 'vitest'
import { encodeRequest } from '../../../src/models/openai/request-body.ts'

const SEARCH = {
  name: 'search',
  description: 'Find “passages”',
  parameters: { type: 'object', properties: { query: { type: 'string' } } },
}
const BODY = { model: 'test-model', messages: [{ role: 'user', content: 'Öffnungszeiten?' }] }

function toolsOf(...functions: readonly object[]) {
  return functions.map((each) => ({ type: 'function', function: each }))
}

describe('An encoded request', () => {
  it.each([
    ['no tools', BODY],
    ['a tool', { ...BODY, tools: toolsOf(SEARCH), tool_choice: 'auto' }],
    ['two tools', { ...BODY, tools: toolsOf(SEARCH, { name: 'stop', parameters: {} }) }],
    ['tools without parameters', { ...BODY, tools: toolsOf({ name: 'a' }, { name: 'b' }) }],
  ])('is the JSON of a body with %s, each time anew', (_case, body) => {
    for (const _time of [1, 2]) expect(JSON.parse(encodeRequest(body).toString())).toEqual(body)
  })

  it('holds a tool as it is now, though another one had the same schema', () => {
    const encode = (tool: object) =>
      JSON.parse(encodeRequest({ ...BODY, tools: toolsOf(tool) }).toString()).tools[0].function
    encode(SEARCH)
    const renamed = { ...SEARCH, name: 'find' }
    const reworded = { ...SEARCH, description: 'Find them' }
    for (const tool of [renamed, reworded, SEARCH]) expect(encode(tool)).toEqual(tool)
  })
})
