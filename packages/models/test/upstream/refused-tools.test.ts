import { describe, expect, it } from 'vitest'
import { errorReply, textReply } from '../../../../test/support/upstream-replies.ts'
import { startModel } from './model-for-test.ts'

const schema = (extra: object = {}) => ({
  type: 'object',
  properties: { coin: { type: 'string', ...extra } },
})
const GOOD = { name: 'search_documents', description: 'Searches', parameters: schema() }
const ODD = { name: 'mcp__coins__price', description: 'Tells the price', parameters: schema() }
const NAMED = { ...ODD, parameters: schema({ format: 'coin' }) }

/** How servers name the tool that they refuse. */
const REFUSALS: Record<string, string> = {
  'its name': "Invalid schema for function 'mcp__coins__price': None is not of type 'object'.",
  'its place': 'tools.1.custom.input_schema: JSON schema is invalid.',
  'its place among declarations':
    'GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[coin]: only allowed for STRING type',
  'its name in other words': 'function "mcp__coins__price" has unsupported parameters',
}

describe('A tool that the server of the model refuses by name', () => {
  it.each(Object.entries(REFUSALS))(
    'is left out, and the others are offered: by %s',
    async (_case, words) => {
      const { upstream, ask, model } = await startModel()
      upstream.script(errorReply(400, words), textReply('Fine'), textReply('Again'))
      expect((await ask({ tools: [GOOD, ODD] })).text).toBe('Fine')
      expect((await ask({ tools: [GOOD, ODD] })).text).toBe('Again')
      const offered = upstream.requests.map(({ body }) => namesIn(body))
      const both = ['search_documents', 'mcp__coins__price']
      expect(offered).toEqual([both, ['search_documents'], ['search_documents']])
      expect(model.refused).toEqual(['the tool "mcp__coins__price": it is left out'])
      expect(model.supportsTools).toBe(true)
    },
  )

  it('is first sent with a simpler schema, the others as they are', async () => {
    const { upstream, ask } = await startModel()
    const other = { ...GOOD, parameters: schema({ format: 'date' }) }
    upstream.script(errorReply(400, REFUSALS['its name'] ?? ''), textReply('Fine'))
    expect((await ask({ tools: [other, NAMED] })).text).toBe('Fine')
    expect(JSON.stringify(upstream.requests[1]?.body)).toContain('"format":"date"')
    expect(JSON.stringify(upstream.requests[1]?.body)).not.toContain('"format":"coin"')
  })

  it('is offered again once its server defines it otherwise', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(
      errorReply(400, REFUSALS['its name'] ?? ''),
      textReply('Fine'),
      textReply('Fine'),
    )
    await ask({ tools: [GOOD, ODD] })
    await ask({ tools: [GOOD, { ...ODD, description: 'Tells the price of a coin' }] })
    expect(namesIn(upstream.requests[2]?.body)).toContain('mcp__coins__price')
  })

  it('cannot be insisted on, which is said', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(errorReply(400, REFUSALS['its name'] ?? ''))
    await expect(
      ask({ tools: [GOOD, ODD], toolChoice: { name: 'mcp__coins__price' } }),
    ).rejects.toThrow('refuses the tool "mcp__coins__price"')
  })
})

function namesIn(body: unknown): unknown[] {
  const { tools } = body as { tools: { function: { name: string } }[] }
  return tools.map((tool) => tool.function.name)
}
