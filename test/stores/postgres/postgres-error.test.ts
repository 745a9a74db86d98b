import { inspect } from 'node:util'
import { DatabaseError } from 'pg'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import {
  isLost,
  isWorthAnotherTry,
  mayPass,
  toStoreError,
} from '../../../src/stores/postgres/error.ts'

/** As the client library throws it, with all that such an error can hold. */
function raised(code: string, message = 'words of the database'): DatabaseError {
  const error = new DatabaseError(message, 0, 'error')
  return Object.assign(error, {
    code,
    detail: 'Key (id)=(a document of somebody) already exists.',
    where: 'unnamed portal with parameters: $1 = a text of somebody',
  })
}

describe('An error of PostgreSQL', () => {
  it.each([
    ['57P01', 'an administrator who ends the connection'],
    ['57P03', 'a start that is not done'],
    ['57014', 'a statement that took too long'],
    ['55P03', 'a lock that was not to be had'],
    ['53300', 'too many connections'],
    ['25006', 'a standby'],
    ['28P01', 'a wrong password'],
    ['3D000', 'no such database'],
    ['08006', 'a broken connection'],
    ['40P01', 'a deadlock that came again and again'],
    ['XX001', 'a damaged page'],
    ['08P01', 'a pooler that refuses our settings'],
    ['26000', 'a pooler of transactions'],
    ['42P05', 'the same'],
    ['AS006', 'chunk keys that are too old'],
  ])('%s, %s, is store_unavailable with Retry-After', (code) => {
    expect(toStoreError(raised(code))).toMatchObject({
      ...{ code: 'store_unavailable', status: 503, retryAfter: expect.any(Number) },
    })
  })

  it.each([
    ['53100', 'storage_full'],
    ['AS001', 'queue_full'],
    ['AS002', 'idempotency_conflict'],
    ['AS003', 'document_not_found'],
    ['AS004', 'document_not_failed'],
    ['AS007', 'storage_full'],
  ])('%s is %s', (code, expected) => {
    expect(toStoreError(raised(code))).toMatchObject({ code: expected })
  })

  it('that is nobody else’s fault stays an error of ours, and tells nothing of a document', () => {
    const error = toStoreError(raised('23505', 'duplicate key value violates a constraint'))
    expect(error).not.toBeInstanceOf(AppError)
    expect(error.message).toContain('23505')
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain('somebody')
  })

  it('that is none of the database’s is the connection’s', () => {
    for (const message of ['Connection terminated', 'Query read timeout', 'connect ECONNREFUSED']) {
      const error = new Error(message)
      expect(toStoreError(error)).toMatchObject({ code: 'store_unavailable' })
      expect(isLost(error)).toBe(true)
    }
  })

  it('is waited for at a start only where it may pass', () => {
    expect(
      ['57P03', '57P01', '53300', '08006', '25006'].map((code) => mayPass(raised(code))),
    ).toEqual([true, true, true, true, true])
    expect(
      ['28P01', '28000', '3D000', '42501', '58030', '08P01'].map((code) => mayPass(raised(code))),
    ).toEqual([false, false, false, false, false, false])
  })

  it('is tried again only where nothing has happened', () => {
    expect(['40001', '40P01'].map((code) => isWorthAnotherTry(raised(code)))).toEqual([true, true])
    expect(['57P01', '57014', '23505'].map((code) => isWorthAnotherTry(raised(code)))).toEqual([
      false,
      false,
      false,
    ])
  })

  it('ends the connection where that has failed or leads to a standby, and not otherwise', () => {
    expect(['57P01', '08006', '25006'].map((code) => isLost(raised(code)))).toEqual([
      true,
      true,
      true,
    ])
    expect(['57014', '23505', 'AS001'].map((code) => isLost(raised(code)))).toEqual([
      false,
      false,
      false,
    ])
  })
})
