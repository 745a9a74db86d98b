import { JobRefusal } from '../../lib/job-process.ts'
import { findRows, type KeyTest } from '../../stores/row-file.ts'
import { type KeyKind, keyKindOf, toKey } from './row-key.ts'
import {
  Cell,
  type Column,
  type FoundRows,
  type LookUpJob,
  type RowCondition,
} from './table-job.ts'

/** Rows that are counted; where there are more, that is said. */
const MOST_COUNTED = 10_000
/** The last character there is: whatever begins with a text comes before the text with it at its end. */
const LAST_CHARACTER = '\u{10ffff}'

/** Finds rows in a file that `indexTable` has written. Throws `JobRefusal` in words for the model. */
export async function lookUpRows(job: LookUpJob): Promise<FoundRows> {
  const { rows, count } = findRows(job.file, toTests(job), {
    maximumRows: job.maximumRows,
    mostCounted: MOST_COUNTED + 1,
  })
  return {
    rows: rows.map(({ row, told }) => ({ row, cells: Cell.array().parse(JSON.parse(told)) })),
    rowCount: Math.min(count, MOST_COUNTED),
    isMore: count > MOST_COUNTED,
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
