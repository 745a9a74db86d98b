import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findRows, type KeyTest, type StoredRow, writeRowFile } from '../../src/stores/row-file.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const BOUNDS = { maximumRows: 10, mostCounted: 100 }

async function* pieces(rows: readonly StoredRow[]) {
  for (const row of rows) yield [row]
}

/** A file of one column with these keys, in rows from 1. */
async function write(...keys: StoredRow['keys'][number][]): Promise<string> {
  const path = join(await temporaryDirectory(), 'rows')
  const rows = keys.map((key, index) => ({ row: index + 1, text: `text ${key}`, keys: [key] }))
  await writeRowFile(path, 1, pieces(rows))
  return path
}

const test = (operator: KeyTest['operator'], key: KeyTest['key']): KeyTest => ({
  ...{ column: 0, operator, key },
})

describe('A file of rows', () => {
  it('gives rows back as they were text, in the order of their keys', async () => {
    const path = await write('b', 'c', 'a')
    expect(findRows(path, [test('>=', 'a')], BOUNDS)).toEqual({
      rows: [
        { row: 3, text: 'text a' },
        { row: 1, text: 'text b' },
        { row: 2, text: 'text c' },
      ],
      count: 3,
    })
  })

  it.each([
    ['numbers by their size', [10, 9, 2.5, -1], [test('>=', 2.5), test('<', 10)], [3, 2]],
    [
      'whole numbers that no double is',
      [2n ** 53n + 1n, 2 ** 53],
      [test('=', 2n ** 53n + 1n)],
      [1],
    ],
    [
      'texts by their characters',
      ['Z', 'a', 'ä', '日'],
      [test('>=', 'a'), test('<', '日')],
      [2, 3],
    ],
    ['no gap', [null, 1, null], [test('>=', -1e308)], [2]],
    ['a text for no number', ['1', 1], [test('=', 1)], [2]],
  ] as const)('compares %s', async (_case, keys, tests, rows) => {
    const found = findRows(await write(...keys), tests, BOUNDS)
    expect(found.rows.map(({ row }) => row)).toEqual(rows)
  })

  it('gives as many as asked, and counts to a bound', async () => {
    const path = await write(...Array.from({ length: 50 }, (_, n) => n))
    const found = findRows(path, [test('>=', 0)], { maximumRows: 3, mostCounted: 20 })
    expect(found.rows).toHaveLength(3)
    expect(found.count).toBe(20)
  })

  it('is only read when something is looked up', async () => {
    const path = await write(1, 2)
    const before = await readFile(path)
    findRows(path, [test('=', 1)], BOUNDS)
    expect(await readFile(path)).toEqual(before)
  })

  it('that is none fails', async () => {
    const path = join(await temporaryDirectory(), 'rows')
    expect(() => findRows(path, [test('=', 1)], BOUNDS)).toThrow()
    await writeFile(path, 'no file of rows, but long enough to be looked at')
    expect(() => findRows(path, [test('=', 1)], BOUNDS)).toThrow()
  })
})
