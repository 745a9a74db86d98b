import { DocumentLine } from '@agent-server/schemas/document-batch.ts'
import {
  installErrorMessages,
  invalidRequest,
  refusalOf,
} from '@agent-server/schemas/invalid-request.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

describe('What is wrong with an input', () => {
  it('is one error that names the first field', () => {
    const issues = [
      { field: 'text', message: 'must not be empty' },
      { field: '', message: 'is of no use' },
    ]
    const { code, status, message, param } = invalidRequest(issues, undefined)
    expect([code, status, param]).toEqual(['invalid_request', 400, 'text'])
    expect(message).toBe('text: must not be empty; is of no use')
  })

  it('lists at most five fields', () => {
    const issues = Array.from({ length: 9 }, (_, n) => ({ field: `f${n}`, message: 'is bad' }))
    expect(invalidRequest(issues, undefined).message.split('; ')).toHaveLength(5)
  })

  it('names no field if the whole input is wrong', () => {
    expect(invalidRequest([{ field: '', message: 'is no list' }], undefined).param).toBeUndefined()
  })

  it.each([
    [{ text: '' }, 'text'],
    [{ text: 'x', metadata: { a: { b: 1 } } }, 'metadata.a'],
    [{ text: 'x', id: '' }, 'id'],
    [{ text: 'x', idempotencyKey: 'a b' }, 'idempotencyKey'],
    [null, undefined],
  ])('is what a schema refused: %j', (input, param) => {
    const { error } = DocumentLine.safeParse(input)
    if (!error) throw new Error('It was not refused')
    expect(refusalOf(error)).toMatchObject({ code: 'invalid_request', param })
  })
})

function refusal(schema: z.ZodType, input: unknown): string | undefined {
  return schema.safeParse(input).error?.issues[0]?.message
}

describe('A schema without words of its own', () => {
  beforeAll(installErrorMessages)

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

  const pet = (...kinds: readonly string[]) => {
    const shapes = kinds.map((kind) => z.object({ kind: z.literal(kind) }))
    return z.discriminatedUnion('kind', [z.object({ kind: z.literal('owl') }), ...shapes])
  }

  it.each<[string, z.ZodType, unknown]>([
    ['is required', pet('bat'), {}],
    ['is required', pet('bat'), { kind: undefined }],
    ['must be one of "owl", "bat"', pet('bat'), { kind: 'cat' }],
    ['must be one of "owl", "bat"', pet('bat'), { kind: null }],
    ['must be an object', pet('bat'), 'owl'],
  ])('of a union that tells its kinds by a field says “%s”', (message, schema, input) => {
    expect(refusal(schema, input)).toBe(message)
  })

  it('names the first of many kinds', () => {
    const many = pet(...Array.from({ length: 20 }, (_, n) => `bat${n}`))
    expect(refusal(many, { kind: 'cat' })).toMatch(/^must be one of "owl", .*"bat8" or 11 more$/)
  })

  it('keeps the words of Zod for what has no plain ones', () => {
    expect(refusal(z.url(), 'nowhere')).toBe('Invalid URL')
  })

  it('does not take the place of words that a schema has', () => {
    expect(refusal(z.string().min(1, 'must not be empty'), '')).toBe('must not be empty')
  })
})
