import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, it } from 'vitest'
import { runJob } from '../../../src/lib/processes/child-process.ts'
import { JobRefusal } from '../../../src/lib/processes/job.ts'
import { withDatabase } from '../../../src/services/tables/duckdb.ts'
import { indexTable } from '../../../src/services/tables/index-table.ts'
import { keyKindOf, lookUpRows, testsOf, toKey } from '../../../src/services/tables/look-up-rows.ts'
import { FoundRows, type RowCondition } from '../../../src/services/tables/table-job.ts'
import { LOOK_UP } from '../../../src/services/tables/tables.ts'
import { whereOf } from '../../../src/stores/row-file.ts'
import { onlyLong } from '../../support/long.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

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

/** The file of an index over a table of many kinds; row n tells of n - 1. */
async function createIndex(directory: string, rows = ROWS): Promise<string> {
  const [source, target] = [join(directory, 'tables.duckdb'), join(directory, 'rows')]
  await withDatabase(source, (connection) =>
    connection.run(`CREATE TABLE table0 AS SELECT
      CASE WHEN range = 5 THEN 9007199254740993 ELSE range END AS id,
      (range / 100)::DECIMAL(18, 2) AS "Amount", range / 8 AS share,
      DATE '2020-01-01' + (range % 3000)::INT AS day,
      TIMESTAMP '2020-01-01' + INTERVAL (range) HOUR AS at,
      CASE WHEN range % 1000 = 999 THEN NULL ELSE 'name ' || range END AS name,
      range % 2 = 0 AS paid, ['a', 'b' || range] AS tags FROM range(${rows})`),
  )
  await indexTable({ source, target, table: 'table0', rows, columns: COLUMNS })
  return target
}

let file: string
beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  file = await createIndex(directory)
  return () => rm(directory, { recursive: true })
})

const find = (...conditions: RowCondition[]) => findIn(file, ...conditions)
const findIn = (path: string, ...conditions: RowCondition[]) =>
  lookUpRows({ file: path, columns: COLUMNS, conditions, maximumRows: 5 })
const placesOf = ({ rows }: FoundRows) => rows.map(({ row }) => row)

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
  ['numbers from one on', { field: 'id', from: 19_990 }, 11, 19_991],
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

  it.each(CONDITIONS)('is answered by an index, and by no scan, for %s', (_case, condition) => {
    expect(planOf([condition])).toEqual([
      expect.stringMatching(/^SEARCH rows USING INDEX by_c\d \(c\d[=<>]\?/),
    ])
  })

  it('takes an index for one of several conditions, and the others hold, too', async () => {
    const conditions = [
      { field: 'day', from: '2020-02-01', to: '2020-02-29' },
      { field: 'paid', equals: false },
      { field: 'name', prefix: 'name 3' },
    ]
    expect(placesOf(await find(...conditions))).toEqual([32, 34, 36, 38, 40])
    const [step] = planOf(conditions)
    expect(step).toMatch(/^SEARCH rows USING INDEX/)
  })

  it('gives the row whole, its numbers as they were', async () => {
    expect((await find({ field: 'id', equals: 120 })).rows).toEqual([
      {
        row: 121,
        cells: [
          ...['120', '1.20', 15, '2020-04-30', '2020-01-06 00:00:00', 'name 120', true],
          '["a","b120"]',
        ],
      },
    ])
  })

  it('counts up to a bound, and says where there is more', async () => {
    expect(await find({ field: 'id', from: 0 })).toMatchObject({ rowCount: 10_000, isMore: true })
  })

  it('finds nothing where nothing is, and no gap in the data', async () => {
    expect(await find({ field: 'name', equals: 'nobody' })).toEqual({
      ...{ rows: [], rowCount: 0, isMore: false },
    })
    expect(
      (await find({ field: 'name', from: '' }, { field: 'id', equals: 19_999 })).rowCount,
    ).toBe(0)
  })

  it.each([
    ['a column that is not there', { field: 'nmae', equals: 'x' }, /no column "nmae", only id, Am/],
    ['a text for a number', { field: 'id', from: 'many' }, /id is BIGINT: "many" is no value/],
    ['a number for a truth', { field: 'paid', equals: 2 }, /paid is BOOLEAN/],
    ['a word for a day', { field: 'day', equals: 'yesterday' }, /day is DATE/],
    ['a prefix of numbers', { field: 'id', prefix: '1' }, /a prefix is for texts/],
  ])('refuses %s in words', async (_case, condition, words) => {
    const refused = await find(condition).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(JobRefusal)
    expect(String(refused)).toMatch(words)
  })

  it('reads what is typed as a value, whatever it says', async () => {
    const drop = `x' OR 1=1; DROP TABLE rows; --`
    expect((await find({ field: 'name', equals: drop })).rowCount).toBe(0)
    await expect(find({ field: drop, equals: 1 })).rejects.toThrow(JobRefusal)
    expect((await find({ field: 'id', equals: 1 })).rowCount).toBe(1)
  })

  it('runs in a process of its own', async () => {
    const job = {
      file,
      columns: COLUMNS,
      conditions: [{ field: 'id', equals: 7 }],
      maximumRows: 5,
    }
    const found = await runJob(LOOK_UP, job, new AbortController().signal)
    expect(placesOf(FoundRows.parse(found))).toEqual([8])
  })
})

describe('An index', () => {
  it('keeps the places of rows, also of more than the engine reads at once', onlyLong, async () => {
    const found = await findIn(await createIndex(await temporaryDirectory(), 130_000), {
      field: 'id',
      from: 129_990,
    })
    expect(found.rows.map(({ row, cells }) => row - Number(cells[0]))).toEqual([1, 1, 1, 1, 1])
  })

  it.each([
    ['cells', 5_000_001, COLUMNS.slice(0, 2)],
    ['columns', 1, Array.from({ length: 201 }, (_, n) => ({ name: `c${n}`, type: 'BIGINT' }))],
  ])('is not made of too many %s', async (_case, rows, columns) => {
    const job = { source: 'x', target: 'y', table: 't', rows, columns }
    await expect(indexTable(job)).rejects.toThrow(/too large.*query_table/)
  })
})

/** How the rows are found, step by step, in the words of the store. */
function planOf(conditions: RowCondition[]): unknown[] {
  const tests = conditions.flatMap((condition) => testsOf(condition, COLUMNS))
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const sql = `EXPLAIN QUERY PLAN SELECT row, told FROM rows WHERE ${whereOf(tests)} LIMIT 5`
    const plan = database.prepare(sql).all(...tests.map(({ key }) => key))
    return plan.map(({ detail }) => detail)
  } finally {
    database.close()
  }
}

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

describe('What an index keeps', () => {
  it.each([
    ['text', 'Ångström', 'Ångström'],
    ['text', 7, '7'],
    ['text', 'x'.repeat(2_000), 'x'.repeat(1_000)],
    ['number', '12.50', 12.5],
    ['number', '-3', -3],
    ['number', '99999999999999999999', 1e20],
    ['number', 'many', null],
    ['number', ' ', null],
    ['number', 'Infinity', null],
    ['number', true, null],
    ['boolean', true, 1],
    ['boolean', 'FALSE', 0],
    ['boolean', 'maybe', null],
    ['time', '2026-01-02T03:04', '2026-01-02 03:04'],
    ['time', 2026, '2026'],
    ['time', 'yesterday', null],
    ['text', null, null],
  ] as const)('of the %s %j is %j', (kind, value, key) => {
    expect(toKey(value, kind)).toBe(key)
  })

  it('of a whole number that no double is, is the number itself', () => {
    expect(toKey('9007199254740993', 'number')).toBe(9_007_199_254_740_993n)
  })
})
