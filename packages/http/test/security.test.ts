import { checkOrigin } from '@agent-server/http/security.ts'
import { describe, expect, it } from 'vitest'

const ALLOWED = ['https://app.example']

describe('the origin of a request', () => {
  it.each([
    [undefined, ALLOWED],
    ['https://app.example', ALLOWED],
    ['https://any.example', ['*']],
    ['http://localhost:6274', []],
    ['http://127.0.0.1', []],
    ['http://[::1]:8080', []],
  ])('may be %s', (origin, allowed) => {
    expect(() => checkOrigin(origin, allowed)).not.toThrow()
  })

  it.each([
    'https://evil.example',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example.evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'null',
    '',
    'not a URL',
  ])('may not be %j', (origin) => {
    expect(() => checkOrigin(origin, ALLOWED)).toThrow(
      expect.objectContaining({ code: 'origin_not_allowed', status: 403 }),
    )
  })
})
