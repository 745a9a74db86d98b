import { ERRORS } from '@agent-server/lib/errors.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { readPage } from './pages.ts'

describe('docs/reference/errors.md', verifies('errors.table'), () => {
  const { text } = readPage('docs/reference/errors.md')
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$|`/g, '')))

  it('explains every code with its status, and no other', () => {
    const explained = rows.map(([code, status]) => ({ code, status: Number(status) }))
    const table = Object.entries(ERRORS).map(([code, { status }]) => ({ code, status }))
    expect(explained).toEqual(table)
  })

  it('tells the type of each', () => {
    const told = text.matchAll(/`(\w+)` for (\d{3}(?:(?:, | and )\d{3})*)/g)
    const types = new Map(
      told.flatMap(([, type, statuses = '']) =>
        statuses.split(/, | and /).map((status) => [Number(status), type] as const),
      ),
    )
    expect(types.size).toBe(6)
    expect(text).toContain('`upstream_error` for `fetch_failed` and `upstream_…`')
    const typeOf = (code: string, status: number) =>
      /^(?:fetch_failed$|upstream_)/.test(code)
        ? 'upstream_error'
        : (types.get(status) ?? 'invalid_request_error')
    const table = Object.entries(ERRORS)
    expect(table.map(([code, { status }]) => [code, typeOf(code, status)])).toEqual(
      table.map(([code, { type }]) => [code, type]),
    )
  })

  it('says of each what it means and what to do', () => {
    for (const [code, , meaning, remedy, ...more] of rows) {
      expect([code, meaning?.length, remedy?.length, more]).toEqual([
        code,
        expect.toSatisfy((length) => length > 10),
        expect.toSatisfy((length) => length > 10),
        [],
      ])
    }
  })
})
