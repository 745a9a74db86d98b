import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { withDatabase } from '../src/duckdb.ts'
import {
  findStatement,
  keyKindOf,
  type MatchingRows,
  type RowCondition,
  readMatches,
} from '../src/look-up.ts'
import { queryTables } from '../src/query-tables.ts'

const COLUMNS = [
  { name: 'id', type: 'BIGINT' },
  { name: 'Amount', type: 'DECIMAL(18,2)' },
  { name: 'share', type: 'DOUBLE' },
  { name: 'day', type: 'DATE' },
  { name: 'at', type: 'TIMESTAMP' },
  { name: 'name', type: 'VARCHAR' },
  { name: 'paid', type: 'BOOLEAN' },
  { name: 'tags', type: 'VARCHAR[]' },
]
const ROWS = 20_000

/** The file of a table of many kinds; row n tells of n - 1. */
async function createTable(directory: string): Promise<string> {
  const path = join(directory, 'tables.duckdb')
  await withDatabase(path, (connection) =>
    connection.run(`CREATE TABLE table0 AS SELECT
      CASE WHEN range = 5 THEN 9007199254740993 ELSE range END AS id,
      (range / 100)::DECIMAL(18, 2) AS "Amount", range / 8 AS share,
      DATE '2020-01-01' + (range % 3000)::INT AS day,
      TIMESTAMP '2020-01-01' + INTERVAL (range) HOUR AS at,
      CASE WHEN range % 1000 = 999 THEN NULL ELSE 'name ' || range END AS name,
      range % 2 = 0 AS paid, ['a', 'b' || range] AS tags FROM range(${ROWS})`),
  )
  return path
}

let file: string
beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  file = await createTable(directory)
  return () => rm(directory, { recursive: true })
})

async function find(...conditions: RowCondition[]) {
  const sql = findStatement('file0.main.table0', COLUMNS, conditions, 5)
  const views = [{ name: 'data', file, table: 'table0' }]
  return readMatches(await queryTables({ views, sql, maximumRows: 5, isTrusted: true }))
}
const placesOf = ({ rows }: MatchingRows) => rows.map(({ row }) => row)

/** Conditions of every kind, with the number of rows that fit and the first of them. */
const CONDITIONS: readonly [
  case_: string,
  condition: RowCondition,
  count: number,
  first: number,
][] = [
  ['a whole number', { field: 'id', equals: 77 }, 1, 78],
  ['a whole number as text', { field: 'id', equals: '77' }, 1, 78],
  ['a number that no double is', { field: 'id', equals: '9007199254740993' }, 1, 6],
  ['a decimal', { field: 'amount', equals: 12.34 }, 1, 1_235],
  ['a fraction', { field: 'share', equals: 0.125 }, 1, 2],
  ['a range of numbers', { field: 'Amount', from: 1, to: 1.5 }, 51, 101],
  ['numbers from one on', { field: 'id', from: 19_990 }, 11, 6],
  ['a day', { field: 'day', equals: '2020-01-31' }, 7, 31],
  ['a month of days', { field: 'day', prefix: '2020-02' }, 203, 32],
  ['a range of days', { field: 'day', from: '2020-02-01', to: '2020-02-03' }, 21, 32],
  ['a day of times', { field: 'at', equals: '2020-01-02' }, 24, 25],
  ['times to the end of a day', { field: 'at', from: '2020-01-02T12', to: '2020-01-03' }, 36, 37],
  ['a text', { field: 'name', equals: 'name 123' }, 1, 124],
  ['a prefix', { field: 'name', prefix: 'name 1234' }, 11, 1_235],
  ['a range of texts', { field: 'name', from: 'name 9998', to: 'name 99990' }, 1, 9_999],
  ['a truth', { field: 'paid', equals: true }, 10_000, 1],
  ['a list, as it is written', { field: 'tags', equals: '["a","b7"]' }, 1, 8],
]

describe('A look-up in a table', () => {
  it.each(CONDITIONS)('finds rows by %s', async (_case, condition, count, first) => {
    const found = await find(condition)
    expect(found).toMatchObject({ rowCount: count, isMore: false })
    expect(placesOf(found)[0]).toBe(first)
  })

  it('finds only rows for which all of several conditions hold', async () => {
    const conditions = [
      { field: 'day', from: '2020-02-01', to: '2020-02-29' },
      { field: 'paid', equals: false },
      { field: 'name', prefix: 'name 3' },
    ]
    expect(placesOf(await find(...conditions))).toEqual([32, 34, 36, 38, 40])
  })

  it.each([
    ['decimals with all of their digits', { field: 'amount', equals: '12.340' }, 1],
    ['numbers that are written with an exponent', { field: 'id', from: '1e20' }, 0],
    ['truths in any case', { field: 'paid', equals: 'FALSE' }, 10_000],
    ['times as ISO writes them', { field: 'at', equals: '2020-01-02T03' }, 1],
    ['text beyond the first thousand letters', { field: 'name', equals: 'x'.repeat(2_000) }, 0],
  ] as [string, RowCondition, number][])('compares %s', async (_case, condition, count) => {
    expect((await find(condition)).rowCount).toBe(count)
  })

  it('gives the row whole, its numbers as they were', async () => {
    expect((await find({ field: 'id', equals: 120 })).rows).toEqual([
      {
        row: 121,
        cells: [
          '120',
          '1.20',
          15,
          '2020-04-30',
          '2020-01-06 00:00:00',
          'name 120',
          true,
          '["a","b120"]',
        ],
      },
    ])
  })

  it('counts up to a bound, and says where there is more', async () => {
    expect(await find({ field: 'id', from: 0 })).toMatchObject({ rowCount: 10_000, isMore: true })
  })

  it('finds nothing if there is no value, and no gap in the data', async () => {
    expect(await find({ field: 'name', equals: 'nobody' })).toEqual({
      rows: [],
      rowCount: 0,
      isMore: false,
    })
    expect(
      (await find({ field: 'name', from: '' }, { field: 'id', equals: 19_999 })).rowCount,
    ).toBe(0)
  })

  it.each([
    ['a column that is not there', { field: 'nmae', equals: 'x' }, /no column "nmae", only id, Am/],
    [
      'a text for a number',
      { field: 'id', from: 'many' },
      /id is BIGINT: "many" is not a valid value/,
    ],
    ['a number for a truth', { field: 'paid', equals: 2 }, /paid is BOOLEAN/],
    ['a word for a day', { field: 'day', equals: 'yesterday' }, /day is DATE/],
    ['a blank for a number', { field: 'id', equals: ' ' }, /id is BIGINT/],
    ['what no number ends', { field: 'id', to: 'Infinity' }, /id is BIGINT/],
    ['SQL for a number', { field: 'id', equals: '1 OR 1=1' }, /id is BIGINT/],
    ['SQL for a truth', { field: 'paid', equals: 'true OR 1=1' }, /paid is BOOLEAN/],
    ['a prefix of numbers', { field: 'id', prefix: '1' }, /a prefix is for texts/],
  ])('refuses %s in words', async (_case, condition, words) => {
    const refused = await find(condition).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(String(refused)).toMatch(words)
  })

  it('reads what is typed as a value, whatever it says', async () => {
    const drop = `x' OR 1=1; DROP TABLE table0; --`
    expect((await find({ field: 'name', equals: drop })).rowCount).toBe(0)
    await expect(find({ field: drop, equals: 1 })).rejects.toThrow(Refusal)
    expect((await find({ field: 'id', equals: 1 })).rowCount).toBe(1)
  })
})

describe('The kind of a column', () => {
  it.each([
    [['BIGINT', 'INTEGER', 'UTINYINT', 'HUGEINT', 'DOUBLE', 'FLOAT', 'DECIMAL(18,2)'], 'number'],
    [['DATE', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMP_NS'], 'time'],
    [['BOOLEAN'], 'boolean'],
    [['VARCHAR', 'TIME', 'INTERVAL', 'BIGINT[]', 'DATE[]', 'STRUCT(a INTEGER)', 'UUID'], 'text'],
  ])('of %j is %s', (types, kind) => {
    expect(types.map(keyKindOf)).toEqual(types.map(() => kind))
  })
})
