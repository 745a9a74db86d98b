import { JobRefusal } from '../../lib/processes/job.ts'
import { findRows, type KeyTest } from '../../stores/row-file.ts'
import {
  Cell,
  type Column,
  type FoundRows,
  type LookUpJob,
  type RowCondition,
} from './table-job.ts'

// This module does not import DuckDB: neither the server nor the look-up process needs to load it.

/** Rows that are counted; beyond that, the result only says that there are more. */
const MAX_COUNTED = 10_000
/** The last code point: every text with a given prefix sorts before the prefix followed by this. */
const LAST_CHARACTER = '\u{10ffff}'

/** Finds rows in a file written by `indexTable`. Throws `JobRefusal`, worded for the model. */
export async function lookUpRows({ file, columns, conditions, maximumRows }: LookUpJob) {
  const tests = conditions.flatMap((condition) => testsOf(condition, columns))
  const { rows, count } = findRows(file, tests, { maximumRows, mostCounted: MAX_COUNTED + 1 })
  return {
    rows: rows.map(({ row, text }) => ({ row, cells: Cell.array().parse(JSON.parse(text)) })),
    rowCount: Math.min(count, MAX_COUNTED),
    isMore: count > MAX_COUNTED,
  } satisfies FoundRows
}

/** The tests for a row's keys that a condition implies. Throws `JobRefusal` if it does not fit the columns. */
export function testsOf(condition: RowCondition, columns: readonly Column[]): KeyTest[] {
  const wanted = condition.field.toLowerCase()
  const index = columns.findIndex(({ name }) => name.toLowerCase() === wanted)
  const column = columns[index]
  if (!column) {
    const names = columns.map(({ name }) => name).join(', ')
    throw new JobRefusal(`There is no column "${condition.field}", only ${names}`)
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
    // The last day is included up to its end.
    ...(kind === 'time' && to !== undefined ? test('<', to + LAST_CHARACTER) : test('<=', to)),
  ]
}

/** The prefix that values must have: a day is a prefix of its times. */
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

/** How the values of a column are compared. */
type KeyKind = 'number' | 'boolean' | 'time' | 'text'

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\([\d,]+\))$/
const TIME = /^(?:DATE|TIMESTAMP[\w ]*)$/
/** UTF-16 code units of a text that are compared. */
const MAX_KEY = 1_000
const MAX_BIGINT = 2n ** 63n

/** By the column's type in DuckDB. */
export function keyKindOf(type: string): KeyKind {
  if (NUMBER.test(type)) return 'number'
  if (TIME.test(type)) return 'time'
  return type === 'BOOLEAN' ? 'boolean' : 'text'
}

/**
 * The key that an index stores for a value: numbers as such (integers exactly), booleans as 0 and 1, dates and times as
 * ISO texts, which sort correctly. Null if the value is not of that kind.
 */
export function toKey(value: Cell, kind: KeyKind): string | number | bigint | null {
  if (value === null) return null
  const text = String(value)
  if (kind === 'text') return text.slice(0, MAX_KEY)
  if (kind === 'time') return /^\d/.test(text) ? text.replace('T', ' ').slice(0, MAX_KEY) : null
  if (kind === 'boolean') return /^(?:true|false)$/i.test(text) ? Number(/^t/i.test(text)) : null
  return toNumber(text)
}

function toNumber(text: string): number | bigint | null {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) return null
  if (!/^-?\d+$/.test(text) || Number.isSafeInteger(number)) return number
  const exact = BigInt(text)
  return exact < MAX_BIGINT && exact >= -MAX_BIGINT ? exact : number
}
