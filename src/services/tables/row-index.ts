import { type DuckDBResult, JsonDuckDBValueConverter } from '@duckdb/node-api'
import { JobRefusal } from '../../lib/child-process.ts'
import { findRows, type KeyTest, type StoredRow, writeRowFile } from '../../stores/row-file.ts'
import { toCell } from './convert-table.ts'
import { lockDown, quoteName, quoteText, withDatabase } from './duckdb.ts'
import {
  Cell,
  type Column,
  type FoundRows,
  type LookUpJob,
  type RowCondition,
  type TableJob,
} from './table-job.ts'

const MAX_CELLS = 10_000_000
const MAX_COLUMNS = 200

type IndexJob = Extract<TableJob, { kind: 'index' }>

/** Writes the rows of a table into a file with an ordered index for each column. Throws `JobRefusal` for too large a one. */
export async function indexTable({ source, table, rows, columns, target }: IndexJob) {
  if (rows * columns.length > MAX_CELLS || columns.length > MAX_COLUMNS) {
    throw new JobRefusal(
      `The table is too large to look up single rows (more than ${MAX_CELLS} cells or ${MAX_COLUMNS} columns): take query_table`,
    )
  }
  await withDatabase(':memory:', async (connection) => {
    await connection.run(`ATTACH ${quoteText(source)} AS source (READ_ONLY)`)
    await lockDown(connection)
    const from = `source.main.${quoteName(table)}`
    const read = await connection.stream(`SELECT rowid, * FROM ${from}`)
    await writeRowFile(target, columns.length, rowsOf(read, columns))
  })
  return {}
}

async function* rowsOf(
  from: DuckDBResult,
  columns: readonly Column[],
): AsyncGenerator<StoredRow[]> {
  const kinds = columns.map(({ type }) => keyKindOf(type))
  for (;;) {
    const chunk = await from.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    yield chunk.convertRows(JsonDuckDBValueConverter).map(([place, ...values]) => {
      const cells = values.map(toCell)
      return {
        row: Number(place) + 1,
        told: JSON.stringify(cells),
        keys: kinds.map((kind, index) => toKey(cells[index] ?? null, kind)),
      }
    })
  }
}

/** Rows that are counted; where there are more, that is said. */
const MAX_COUNTED = 10_000
/** The last character there is: whatever begins with a text comes before the text with it at its end. */
const LAST_CHARACTER = '\u{10ffff}'

/** Finds rows in a file that `indexTable` has written. Throws `JobRefusal` in words for the model. */
export async function lookUpRows(job: LookUpJob): Promise<FoundRows> {
  const { rows, count } = findRows(job.file, toTests(job), {
    maximumRows: job.maximumRows,
    mostCounted: MAX_COUNTED + 1,
  })
  return {
    rows: rows.map(({ row, told }) => ({ row, cells: Cell.array().parse(JSON.parse(told)) })),
    rowCount: Math.min(count, MAX_COUNTED),
    isMore: count > MAX_COUNTED,
  }
}

/** What the keys of a row have to pass. */
export function toTests({
  columns,
  conditions,
}: Pick<LookUpJob, 'columns' | 'conditions'>): KeyTest[] {
  return conditions.flatMap((condition) => testsOf(condition, columns))
}

function testsOf(condition: RowCondition, columns: readonly Column[]): KeyTest[] {
  const index = columns.findIndex(({ name }) => isSame(name, condition.column))
  const column = columns[index]
  if (!column) {
    const names = columns.map(({ name }) => name).join(', ')
    throw new JobRefusal(`There is no column "${condition.column}", only ${names}`)
  }
  const kind = keyKindOf(column.type)
  const { equals, prefix, from, to } = condition
  const test = (operator: KeyTest['operator'], value: RowCondition['equals']): KeyTest[] =>
    value === undefined ? [] : [{ column: index, operator, key: keyFor(value, kind, column) }]
  const begun = beginning(kind, prefix ?? (kind === 'time' ? equals : undefined), column)
  return [
    ...(kind === 'time' ? [] : test('=', equals)),
    ...test('>=', begun),
    ...test('<', begun === undefined ? undefined : begun + LAST_CHARACTER),
    ...test('>=', from),
    // The last day counts to its end.
    ...(kind === 'time' && to !== undefined ? test('<', to + LAST_CHARACTER) : test('<=', to)),
  ]
}

/** What the values have to begin with: a day is the beginning of its times. */
function beginning(
  kind: KeyKind,
  value: RowCondition['equals'],
  { name, type }: Column,
): string | undefined {
  if (value === undefined || kind === 'text' || kind === 'time') return value?.toString()
  throw new JobRefusal(`${name} is ${type}: a prefix is for texts, days and times`)
}

function keyFor(value: string | number | boolean, kind: KeyKind, { name, type }: Column) {
  const key = toKey(value, kind)
  if (key !== null) return key
  throw new JobRefusal(`${name} is ${type}: ${JSON.stringify(value)} is no value of it`)
}

function isSame(name: string, wanted: string): boolean {
  return name.toLowerCase() === wanted.toLowerCase()
}

/** How the values of a column compare. */
type KeyKind = 'number' | 'boolean' | 'time' | 'text'

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\([\d,]+\))$/
const TIME = /^(?:DATE|TIMESTAMP[\w ]*)$/
/** UTF-16 code units of a text that are compared. */
const LONGEST_KEY = 1_000
const LARGEST_INTEGER = 2n ** 63n

/** By the column's type in the database of tables. */
export function keyKindOf(type: string): KeyKind {
  if (NUMBER.test(type)) return 'number'
  if (TIME.test(type)) return 'time'
  return type === 'BOOLEAN' ? 'boolean' : 'text'
}

/**
 * What an index keeps of a value: numbers as such, whole ones exactly, truths as 0 and 1, days and times as
 * ISO texts, which sort. Nothing where the value is not of that kind.
 */
export function toKey(value: Cell, kind: KeyKind): string | number | bigint | null {
  if (value === null) return null
  const text = String(value)
  if (kind === 'text') return text.slice(0, LONGEST_KEY)
  if (kind === 'time') return /^\d/.test(text) ? text.replace('T', ' ').slice(0, LONGEST_KEY) : null
  if (kind === 'boolean') return /^(?:true|false)$/i.test(text) ? Number(/^t/i.test(text)) : null
  return toNumber(text)
}

function toNumber(text: string): number | bigint | null {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) return null
  if (!/^-?\d+$/.test(text) || Number.isSafeInteger(number)) return number
  const exact = BigInt(text)
  return exact < LARGEST_INTEGER && exact >= -LARGEST_INTEGER ? exact : number
}
