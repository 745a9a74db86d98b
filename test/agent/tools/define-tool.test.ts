import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, slimSchema } from '../../../src/agent/tools/define-tool.ts'
import { createContext } from './context-for-test.ts'

const { signal } = new AbortController()

describe('The schema that a model is sent', () => {
  it.each([
    [
      'bounds, patterns, defaults and examples',
      z.strictObject({
        name: z
          .string()
          .min(1)
          .max(9)
          .regex(/^[\w.-]+$/),
        some: z.array(z.int().min(1)).min(1).max(2).default([3]),
      }),
      {
        type: 'object',
        properties: {
          name: { type: 'string' },
          some: { type: 'array', items: { type: 'integer' } },
        },
        required: ['name'],
      },
    ],
    [
      'the names of properties, although they are words of JSON Schema',
      z.object({ pattern: z.string().max(3), default: z.enum(['pattern', 'default']) }),
      {
        type: 'object',
        properties: {
          pattern: { type: 'string' },
          default: { type: 'string', enum: ['pattern', 'default'] },
        },
        required: ['pattern', 'default'],
      },
    ],
    [
      'alternatives',
      z.object({
        plain: z.union([z.string().max(3), z.number()]).describe('Either'),
        other: z.union([z.literal('all'), z.object({ a: z.string().max(3) })]),
      }),
      {
        type: 'object',
        properties: {
          plain: { type: ['string', 'number'], description: 'Either' },
          other: {
            anyOf: [
              { type: 'string', const: 'all' },
              { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
            ],
          },
        },
        required: ['plain', 'other'],
      },
    ],
  ])('says little of %s', (_case, schema, expected) => {
    expect(slimSchema(z.toJSONSchema(schema, { io: 'input' }))).toEqual(expected)
  })

  it('keeps the upper bound of a number, and what the other properties are', () => {
    const schema = { type: 'integer', minimum: 1, maximum: 50 }
    const map = { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } }
    expect(slimSchema(schema)).toEqual({ type: 'integer', maximum: 50 })
    expect(slimSchema(map)).toEqual({ type: 'object', additionalProperties: { type: 'string' } })
    const free = { type: 'object', properties: {}, additionalProperties: true }
    expect(slimSchema(free)).toEqual(free)
  })
})

describe('A call with invalid input', () => {
  it('returns every mistake and the description of the tool', async () => {
    const tool = defineTool({
      name: 'add',
      title: 'Add',
      description: 'Adds',
      input: z.object({ a: z.number(), b: z.number() }),
      help: 'a and b are numbers.',
      run: async () => '',
    })
    const call = async () => tool.run({ a: '1' }, createContext(), signal)
    await expect(call()).rejects.toThrow(/→ at a.*→ at b\na and b are numbers\.$/s)
  })
})
