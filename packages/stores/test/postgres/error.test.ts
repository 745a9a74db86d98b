import { inspect } from 'node:util'
import { AppError } from '@agent-server/lib/errors.ts'
import { DatabaseError } from 'pg'
import { describe, expect, it } from 'vitest'
import {
  connectionFailure,
  isLost,
  isWorthAnotherTry,
  mayPass,
  toStoreError,
} from '../../src/postgres/error.ts'

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
    ['AS009', 'a corpus that is being moved here'],
  ])('%s, %s, is store_unavailable with Retry-After', (code) => {
    expect(toStoreError(raised(code))).toMatchObject({
      code: 'store_unavailable',
      status: 503,
      retryAfter: expect.any(Number),
    })
  })

  it('of a full disk is storage_full', () => {
    expect(toStoreError(raised('53100'))).toMatchObject({ code: 'storage_full' })
  })

  it('that is nobody else’s fault stays an error of ours, and tells nothing of a document', () => {
    const error = toStoreError(raised('23505', 'duplicate key value violates a constraint'))
    expect(error).not.toBeInstanceOf(AppError)
    expect(error.message).toContain('23505')
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain('somebody')
  })

  it('that the database did not raise is reported as a failure of the connection', () => {
    for (const message of ['Connection terminated', 'Query read timeout', 'connect ECONNREFUSED']) {
      const error = new Error(message)
      expect(toStoreError(error)).toMatchObject({ code: 'store_unavailable' })
      expect(isLost(error)).toBe(true)
    }
  })

  it('delays a start only if it may be temporary', () => {
    expect(
      ['57P03', '57P01', '53300', '08006', '25006'].map((code) => mayPass(raised(code))),
    ).toEqual([true, true, true, true, true])
    expect(
      ['28P01', '28000', '3D000', '42501', '58030', '08P01'].map((code) => mayPass(raised(code))),
    ).toEqual([false, false, false, false, false, false])
  })

  it('is retried only if the statement had no effect', () => {
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
    expect(['57014', '23505', 'AS009'].map((code) => isLost(raised(code)))).toEqual([
      false,
      false,
      false,
    ])
  })
})

const failure = (code: string, message = '') => Object.assign(new Error(message), { code })

describe('A connection that fails', () => {
  it.each([
    ['ECONNREFUSED', 'nothing is listening'],
    ['ENOTFOUND', 'host name is not known'],
    ['ECONNRESET', 'connection is broken'],
    ['ETIMEDOUT', 'does not respond'],
    ['E_OF_TOMORROW', 'does not respond'],
  ])('with %s may be otherwise in a moment', (code, reason) => {
    expect(connectionFailure(failure(code))).toEqual({
      reason: expect.stringContaining(reason),
      passes: true,
    })
    expect(mayPass(failure(code))).toBe(true)
  })

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', '', 'sslrootcert'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', '', 'sslrootcert'],
    ['CERT_HAS_EXPIRED', '', 'expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', '', 'another host name'],
    ['ENOENT', 'no such file', 'does not exist'],
    ['', 'The server does not support SSL connections', 'no TLS'],
    ['', 'SASL: client password must be a string', 'requires a password'],
  ])('with %s%s stays so until somebody mends it', (code, message, reason) => {
    const thrown = failure(code, message)
    expect(connectionFailure(thrown)).toEqual({
      reason: expect.stringContaining(reason),
      passes: false,
    })
    expect(mayPass(thrown)).toBe(false)
    expect(toStoreError(thrown)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(reason),
    })
  })

  it('is reported as silence when the failure is not an Error', () => {
    expect(connectionFailure('x')).toEqual({ reason: 'it does not respond', passes: true })
  })
})
