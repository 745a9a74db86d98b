import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ChatRequest } from '../../src/schemas/chat.ts'
import { DocumentLine } from '../../src/schemas/document-batch.ts'
import { optional, optionalOr } from '../../src/schemas/fields.ts'
import { McpTestRequest } from '../../src/schemas/mcp.ts'
import { Filter } from '../../src/schemas/metadata.ts'
import { DocumentInput } from '../../src/schemas/new-document.ts'
import { CompletionRequest } from '../../src/schemas/openai/completion.ts'
import { QueryRequest } from '../../src/schemas/query.ts'

const messages = [{ role: 'user', content: 'Where do owls nest?' }]

describe('What may be left out', () => {
  const schema = z.object({ a: optional(z.string()), b: optionalOr(z.int(), 5) })

  it('may be null, which means the same', () => {
    expect(schema.parse({ a: null, b: null })).toEqual({ a: undefined, b: 5 })
    expect(schema.parse({})).toEqual({ b: 5 })
    expect(schema.parse({ a: 'x', b: 6 })).toEqual({ a: 'x', b: 6 })
  })

  it('may be nothing else than it says', () => {
    expect(schema.safeParse({ a: 1 }).success).toBe(false)
    expect(schema.safeParse({ b: '5' }).success).toBe(false)
  })

  it('is shown in the contract with null, and with the value that holds without it', () => {
    const { properties, required } = z.toJSONSchema(schema, { io: 'input' })
    expect(required).toBeUndefined()
    expect(properties).toMatchObject({
      a: { type: ['string', 'null'] },
      b: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: 5 },
    })
  })
})

describe('Every field of a request that may be left out', () => {
  it.each<[string, z.ZodType, object]>([
    ['a query', QueryRequest, { query: 'owls' }],
    ['a chat', ChatRequest, { messages }],
    ['a completion', CompletionRequest, { messages }],
    ['a document', DocumentInput, { text: 'Owls.' }],
    ['a document of a batch', DocumentLine, { text: 'Owls.' }],
    ['a test of a connection', McpTestRequest, {}],
    ['a condition of a filter', Filter, { field: 'year', eq: 2026 }],
  ])('may be null: of %s', (_request, schema, least) => {
    const { properties, anyOf } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
    const fields = Object.keys(
      properties ?? Object(anyOf?.[0]).properties ?? { eq: 1, in: 1, gt: 1 },
    )
    const others = fields.filter((field) => !(field in least))
    expect(others.length).toBeGreaterThan(0)
    const nulls = Object.fromEntries(others.map((field) => [field, null]))
    const [given, without] = [schema.parse({ ...least, ...nulls }), schema.parse(least)]
    const plain = (value: unknown) =>
      JSON.parse(JSON.stringify(value), (_, one) => one ?? undefined)
    expect(plain(given)).toEqual(plain(without))
  })
})
