import { describe, expect, it } from 'vitest'
import { AppError, ERRORS } from '../../src/errors.ts'
import { ErrorBody, errorResponses } from '../../src/schemas/error.ts'

describe('the responses of a route', () => {
  it('are those that every route has, and its own, in ascending order', () => {
    expect(Object.keys(errorResponses(404, 409, 429))).toEqual([
      '400',
      '401',
      '403',
      '404',
      '408',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ])
  })

  it.each(Object.entries(ERRORS))('explain the status of %s', (_code, { status }) => {
    expect(errorResponses(status)[status]?.description).not.toBe('An error.')
  })
})

describe('the envelope', () => {
  it.each(Object.entries(ERRORS))('takes %s', (code, { type }) => {
    const error = { message: 'm', type, code, param: null, request_id: 'r' }
    expect(ErrorBody.parse({ error })).toEqual({ error })
  })

  it('takes no code that the table does not have', () => {
    const error = { message: 'm', type: 'server_error', code: 'oops', param: null, request_id: 'r' }
    expect(ErrorBody.safeParse({ error }).success).toBe(false)
  })
})

it('every code is a failure', () => {
  for (const { status } of Object.values(ERRORS)) expect(status).toBeGreaterThanOrEqual(400)
})

it('an error keeps its cause apart from its message', () => {
  const cause = new Error('why')
  const error = new AppError('internal', 'what', { cause })
  expect(error.message).toBe('what')
  expect(error.cause).toBe(cause)
  expect(error.status).toBe(500)
})
