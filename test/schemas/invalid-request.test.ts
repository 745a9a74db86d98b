import { describe, expect, it } from 'vitest'
import { DocumentLine } from '../../src/schemas/document-batch.ts'
import { invalidRequest, refusalOf } from '../../src/schemas/invalid-request.ts'

describe('What is wrong with an input', () => {
  it('is told in one error that names the first field', () => {
    const issues = [
      { field: 'text', message: 'must not be empty' },
      { field: '', message: 'is of no use' },
    ]
    const { code, status, message, param } = invalidRequest(issues, undefined)
    expect([code, status, param]).toEqual(['invalid_request', 400, 'text'])
    expect(message).toBe('text: must not be empty; is of no use')
  })

  it('is told of the first five fields only', () => {
    const issues = Array.from({ length: 9 }, (_, n) => ({ field: `f${n}`, message: 'is bad' }))
    expect(invalidRequest(issues, undefined).message.split('; ')).toHaveLength(5)
  })

  it('names no field where the whole is at fault', () => {
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
