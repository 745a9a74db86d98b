import { Refusal } from '@agent-server/lib/refusal.ts'
import { type Cell, type Column, type QueryResult, quoteName, quoteText } from './table-job.ts'

/** Rows that are counted; beyond that, the result only says that there are more. */
const MAX_COUNTED = 10_000

type Value = string | number | boolean

/** A condition on one column of a row; all given bounds must hold. */
export interface RowCondition {
  /** The column's name, case-insensitive. */
  field: string
  equals?: Value | undefined
  prefix?: string | undefined
  from?: string | number | undefined
  to?: string | number | undefined
}

export interface MatchingRows {
  /** `row` is the position in the table, from 1, not counting the head. */
  rows: { row: number; cells: Cell[] }[]
  rowCount: number
  isMore: boolean
}

/**
 * The statement that finds the first rows of `table` for which all conditions hold, and counts all of them; `readMatches`
 * reads its result. Throws `Refusal`, worded for the model.
 */
export function findStatement(
  table: string,
  columns: readonly Column[],
  conditions: readonly RowCondition[],
  maximumRows: number,
): string {
  const tests = conditions.flatMap((condition) => testsOf(condition, columns))
  const from = `${table} WHERE ${tests.join(' AND ')}`
  const countQuery = `SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT ${MAX_COUNTED + 1})`
  return `SELECT (${countQuery}), rowid + 1, * FROM ${from} ORDER BY rowid LIMIT ${maximumRows}`
}

export function readMatches({ rows }: Pick<QueryResult, 'rows'>): MatchingRows {
  const count = Number(rows[0]?.[0] ?? 0)
  return {
    rows: rows.map(([, row, ...cells]) => ({ row: Number(row), cells })),
    rowCount: Math.min(count, MAX_COUNTED),
    isMore: count > MAX_COUNTED,
  }
}

/**
 * A condition as tests in SQL. Numbers and booleans are compared as such; all else as text, whose order is that of its
 * code points. Throws `Refusal` if it does not fit the columns.
 */
function testsOf(condition: RowCondition, columns: readonly Column[]): string[] {
  const { field, equals, prefix, from, to } = condition
  const column = columnOf(field, columns)
  const kind = keyKindOf(column.type)
  const isPlain = kind === 'number' || kind === 'boolean'
  if (isPlain && prefix !== undefined) {
    throw new Refusal(`${column.name} is ${column.type}: a prefix is for texts, days and times`)
  }
  const name = isPlain ? quoteName(column.name) : asText(column)
  const isTime = kind === 'time'
  const literal = (value: Value) => LITERALS[kind](value, column)
  const begins = (value: Value) => `starts_with(${name}, ${literal(value)})`
  const equal = (value: Value) => `${name} = ${literal(value)}`
  const upTo = (value: Value) => `${name} <= ${literal(value)}`
  const tests: string[] = []
  // A day stands for all of its times, and the last day is included up to its end.
  if (equals !== undefined) tests.push(isTime ? begins(equals) : equal(equals))
  if (prefix !== undefined) tests.push(begins(prefix))
  if (from !== undefined) tests.push(`${name} >= ${literal(from)}`)
  if (to !== undefined) tests.push(isTime ? `(${upTo(to)} OR ${begins(to)})` : upTo(to))
  return tests
}

function columnOf(field: string, columns: readonly Column[]): Column {
  const column = columns.find(({ name }) => name.toLowerCase() === field.toLowerCase())
  if (column) return column
  const names = columns.map(({ name }) => name).join(', ')
  throw new Refusal(`There is no column "${field}", only ${names}`)
}

/** How the values of a column are compared. */
type KeyKind = 'number' | 'boolean' | 'time' | 'text'

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\([\d,]+\))$/
const TIME = /^(?:DATE|TIMESTAMP[\w ]*)$/

/** By the column's type in DuckDB. */
export function keyKindOf(type: string): KeyKind {
  if (NUMBER.test(type)) return 'number'
  if (TIME.test(type)) return 'time'
  return type === 'BOOLEAN' ? 'boolean' : 'text'
}

/** The values of a column as the model is shown them. */
function asText({ name, type }: Column): string {
  const isNested = /^(?:STRUCT|MAP|UNION)\b|\]$/.test(type)
  return `CAST(${isNested ? `to_json(${quoteName(name)})` : quoteName(name)} AS VARCHAR)`
}

const LITERALS: Record<KeyKind, (value: Value, column: Column) => string> = {
  /** With all of its digits. */
  number(value, column) {
    const text = String(value).trim()
    if (/^-?\d+(?:\.\d+)?$/.test(text)) return text
    const number = text === '' ? Number.NaN : Number(text)
    return Number.isFinite(number) ? String(number) : refuse(value, column)
  },
  boolean: (value, column) =>
    /^(?:true|false)$/i.test(String(value)) ? String(value) : refuse(value, column),
  /** The beginning of a date or time, as the engine writes it. */
  time(value, column) {
    const text = String(value)
    return /^\d/.test(text) ? quoteText(text.replace('T', ' ')) : refuse(value, column)
  },
  text: (value) => quoteText(String(value)),
}

function refuse(value: Value, { name, type }: Column): never {
  throw new Refusal(`${name} is ${type}: ${JSON.stringify(value)} is not a valid value`)
}
