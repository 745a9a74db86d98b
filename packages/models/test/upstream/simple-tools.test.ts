import { describe, expect, it } from 'vitest'
import { simpleTool } from '../../src/upstream/simple-tools.ts'

const simple = (parameters: Record<string, unknown>) =>
  simpleTool({ name: 'tool', description: 'A tool.', parameters }).parameters
const property = (schema: unknown) =>
  simple({ type: 'object', properties: { it: schema } }).properties

describe('A simple schema', () => {
  it.each([
    ['of one kind or null', { anyOf: [{ type: 'number' }, { type: 'null' }] }, { type: 'number' }],
    [
      'of two kinds',
      { oneOf: [{ type: 'string', minLength: 1 }, { const: 3 }], description: 'Which' },
      {
        description: 'Which',
        anyOf: [{ type: 'string' }, { type: 'number', description: 'One of 3.' }],
      },
    ],
    [
      'of all its parts',
      { allOf: [{ type: 'object' }, { properties: { a: { type: 'boolean' } } }] },
      { type: 'object', properties: { a: { type: 'boolean' } } },
    ],
    ['of anything', true, { type: 'string' }],
    [
      'of numbers to choose from',
      { enum: [1, 2], description: 'How many.' },
      { type: 'number', description: 'How many. One of 1, 2.' },
    ],
    [
      'that requires what it does not have',
      { type: 'object', required: ['a', 'b'], properties: { a: {} } },
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    ],
  ])('has what every server takes: one %s', (_case, schema, expected) => {
    expect(property(schema)).toEqual({ it: expected })
  })

  it('ends where a schema refers to itself, however often', () => {
    const names = Array.from({ length: 20 }, (_, at) => `child_${at}`)
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#' }]))
    const schema = simple({ type: 'object', properties })
    expect(JSON.stringify(schema).length).toBeLessThan(200_000)
    expect(simple(schema)).toEqual(schema)
  })

  it('says the same of itself', () => {
    const schema = simple({
      type: 'object',
      properties: { a: { enum: [1] }, b: { type: 'array' } },
    })
    expect(simple(schema)).toEqual(schema)
  })
})
