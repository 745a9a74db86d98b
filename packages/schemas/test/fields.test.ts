import {
  boundedText,
  filledText,
  optional,
  optionalOr,
  toStorable,
} from '@agent-server/lib/fields.ts'
import { ChatRequest } from '@agent-server/schemas/chat.ts'
import { DocumentLine } from '@agent-server/schemas/document-batch.ts'
import { McpTestRequest } from '@agent-server/schemas/mcp.ts'
import { Filter } from '@agent-server/schemas/metadata.ts'
import { DocumentInput } from '@agent-server/schemas/new-document.ts'
import { QueryRequest } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { issuesOf } from '../../../test/support/issues-of.ts'

describe('text made storable', () => {
  it.each([
    ['plain text', 'abc', 'abc'],
    ['a NUL', 'a\u0000b', 'a b'],
    ['a lone high surrogate', 'a\ud800b', 'a\ufffdb'],
    ['a lone low surrogate', '\udc00', '\ufffd'],
    ['surrogates in the wrong order', '\udc00\ud800', '\ufffd\ufffd'],
    ['a pair of surrogates', '😀', '😀'],
    ['other control characters', '\u0001\t\r\n\u007f', '\u0001\t\r\n\u007f'],
    ['a byte order mark', '\ufeffa', '\ufeffa'],
    ['nothing', '', ''],
  ])('has %s as it should be', (_case, text, stored) => {
    expect(toStorable(text)).toBe(stored)
  })

  it('is as long as before, so that offsets hold', () => {
    const text = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit)).join('')
    const stored = toStorable(text)
    expect(stored).toHaveLength(text.length)
    expect(stored.isWellFormed()).toBe(true)
    expect(stored).not.toContain('\u0000')
  })

  it('survives UTF-8 unchanged', () => {
    const stored = toStorable('a\ud800\u0000b😀')
    expect(new TextDecoder().decode(new TextEncoder().encode(stored))).toBe(stored)
  })
})

describe('bounded text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['😀', 2],
  ])('fits with %j in %i code units', (text, maximum) => {
    expect(boundedText(maximum).parse(text)).toBe(text)
  })

  it('is refused one code unit past its bound', () => {
    expect(issuesOf(boundedText(3), 'abcd')).toEqual([
      expect.stringContaining('at most 3 characters'),
    ])
  })

  it('is made storable', () => {
    expect(boundedText(3).parse('a\u0000\ud800')).toBe('a \ufffd')
  })
})

describe('filled text', () => {
  it.each([
    ['nothing', ''],
    ['blanks', '  \t\n'],
    ['a no-break space', '\u00a0\u3000'],
    ['NULs', '\u0000\u0000'],
  ])('is refused when it is %s', (_case, text) => {
    expect(issuesOf(filledText(10), text)).toEqual([': must not be empty'])
  })

  it('keeps the white space around it', () => {
    expect(filledText(10).parse('  a \n')).toBe('  a \n')
  })
})

const messages = [{ role: 'user', content: 'Where do owls nest?' }]

describe('What may be left out', () => {
  const schema = z.object({ a: optional(z.string()), b: optionalOr(z.int(), 5) })

  it('may be null, which means the same', () => {
    expect(schema.parse({ a: null, b: null })).toEqual({ a: undefined, b: 5 })
    expect(schema.parse({})).toEqual({ b: 5 })
    expect(schema.parse({ a: 'x', b: 6 })).toEqual({ a: 'x', b: 6 })
  })

  it('accepts only its declared type', () => {
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
