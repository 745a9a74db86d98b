import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { JobRefusal } from '../../lib/job-process.ts'
import { columnName } from './index-columns.ts'
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

export interface RowStatement {
  /** The conditions, each of which an index answers. */
  where: string
  values: SQLInputValue[]
}

/** Finds rows through the indexes of a file that `indexTable` has written. Throws `JobRefusal` in words for the model. */
export async function lookUpRows(job: LookUpJob): Promise<FoundRows> {
  const { where, values } = toStatement(job)
  const database = new DatabaseSync(job.file, { readOnly: true })
  try {
    const found = database
      .prepare(`SELECT row, told FROM rows WHERE ${where} LIMIT ?`)
      .all(...values, job.maximumRows)
    const counted = database
      .prepare(`SELECT count(*) AS n FROM (SELECT 1 FROM rows WHERE ${where} LIMIT ?)`)
      .get(...values, MOST_COUNTED + 1)
    const count = Number(counted?.n)
    return {
      rows: found.map(({ row, told }) => ({
        row: Number(row),
        cells: Cell.array().parse(JSON.parse(String(told))),
      })),
      rowCount: Math.min(count, MOST_COUNTED),
      isMore: count > MOST_COUNTED,
    }
  } finally {
    database.close()
  }
}

export function toStatement({
  columns,
  conditions,
}: Pick<LookUpJob, 'columns' | 'conditions'>): RowStatement {
  const parts = conditions.flatMap((condition) => partsOf(condition, columns))
  return {
    where: parts.map(({ test }) => test).join(' AND '),
    values: parts.map(({ value }) => value),
  }
}

interface Part {
  test: string
  value: SQLInputValue
}

function partsOf(condition: RowCondition, columns: readonly Column[]): Part[] {
  const index = columns.findIndex(({ name }) => isSame(name, condition.column))
  const column = columns[index]
  if (!column) {
    const names = columns.map(({ name }) => name).join(', ')
    throw new JobRefusal(`There is no column "${condition.column}", only ${names}`)
  }
  const kind = keyKindOf(column.type)
  const { equals, prefix, from, to } = condition
  const part = (operator: string, value: RowCondition['equals']): Part[] =>
    value === undefined
      ? []
      : [{ test: `${columnName(index)} ${operator} ?`, value: keyFor(value, kind, column) }]
  const begun = beginning(kind, prefix ?? (kind === 'time' ? equals : undefined), column)
  return [
    ...(kind === 'time' ? [] : part('=', equals)),
    ...part('>=', begun),
    ...part('<', begun === undefined ? undefined : begun + LAST_CHARACTER),
    ...part('>=', from),
    // The last day counts to its end.
    ...(kind === 'time' && to !== undefined ? part('<', to + LAST_CHARACTER) : part('<=', to)),
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
