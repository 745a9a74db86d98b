import { describe, expect, it } from 'vitest'
import { connectionFailure, mayPass, toStoreError } from '../../../src/stores/postgres/error.ts'

const failure = (code: string, message = '') => Object.assign(new Error(message), { code })

describe('A connection that fails', () => {
  it.each([
    ['ECONNREFUSED', 'nobody listens'],
    ['ENOTFOUND', 'host name is not known'],
    ['ECONNRESET', 'connection is broken'],
    ['ETIMEDOUT', 'does not answer'],
    ['E_OF_TOMORROW', 'does not answer'],
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
    ['ENOENT', 'no such file', 'is not there'],
    ['', 'The server does not support SSL connections', 'no TLS'],
    ['', 'SASL: client password must be a string', 'asks for a password'],
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

  it('is told as silence where it is no error at all', () => {
    expect(connectionFailure('x')).toEqual({ reason: 'it does not answer', passes: true })
  })
})
