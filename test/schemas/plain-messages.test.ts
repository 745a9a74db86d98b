import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { speakPlainly } from '../../src/schemas/invalid-request.ts'

function refusal(schema: z.ZodType, input: unknown): string | undefined {
  return schema.safeParse(input).error?.issues[0]?.message
}

describe('A schema without words of its own', () => {
  beforeAll(speakPlainly)

  it.each<[string, z.ZodType, unknown]>([
    ['is required', z.string(), undefined],
    ['must be a string', z.string(), 5],
    ['must be a string', z.string(), null],
    ['must be a number', z.number(), '5'],
    ['must be a number', z.coerce.number(), 'five'],
    ['must be a whole number', z.int(), 1.5],
    ['must be true or false', z.boolean(), 'yes'],
    ['must be a list', z.array(z.string()), 'one'],
    ['must be an object', z.object({}), []],
    ['must be an object', z.record(z.string(), z.string()), 'one'],
    ['must be "text"', z.literal('text'), 'image'],
    ['must be 1', z.literal(1), 2],
    ['must be one of "user", "assistant"', z.enum(['user', 'assistant']), 'tool'],
    ['must be at least 1', z.int().min(1), 0],
    ['must be at most 100', z.int().max(100), 101],
    ['must be more than 0', z.number().gt(0), 0],
    ['must be less than 1', z.number().lt(1), 1],
    ['must have at least 2 characters', z.string().min(2), 'a'],
    ['must have at most 2 characters', z.string().max(2), 'abc'],
    ['must have at least 2 items', z.array(z.string()).min(2), []],
    ['must not be empty', z.array(z.string()).min(1), []],
    ['must have at most 1 item', z.array(z.string()).max(1), ['a', 'b']],
    ['has unknown fields: topk, limit', z.strictObject({}), { topk: 1, limit: 2 }],
  ])('says “%s”', (message, schema, input) => {
    expect(refusal(schema, input)).toBe(message)
  })

  it('keeps the words of Zod for what has no plain ones', () => {
    expect(refusal(z.url(), 'nowhere')).toBe('Invalid URL')
  })

  it('does not take the place of words that a schema has', () => {
    expect(refusal(z.string().min(1, 'must not be empty'), '')).toBe('must not be empty')
  })
})
