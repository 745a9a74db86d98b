import { describe, expect, it } from 'vitest'
import { checkServer } from '../../src/postgres/migrate.ts'

const RIGHT = { version: 150_013, versionName: '15.13 (Debian)', encoding: 'UTF8' }

describe('A PostgreSQL', () => {
  it.each([RIGHT, { ...RIGHT, version: 140_000 }, { ...RIGHT, version: 180_001 }])(
    'of version $version will do',
    (facts) => expect(() => checkServer(facts)).not.toThrow(),
  )

  it.each([
    [{ version: 130_021, versionName: '13.21' }, /14 or later is needed; this is 13\.21/],
    [{ encoding: 'SQL_ASCII' }, /encoding is SQL_ASCII.+DATABASE_URL/],
  ])('with %j is refused with the remedy', (other, message) => {
    expect(() => checkServer({ ...RIGHT, ...other })).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        message: expect.stringMatching(message),
      }),
    )
  })
})
