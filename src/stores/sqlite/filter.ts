import type { FieldCondition, Filter, MetadataValue } from '../../schemas/metadata.ts'
import { TABLE_ENDINGS } from '../lookup.ts'

/** A condition on `documents`, with the values of its question marks in order. */
interface Condition {
  sql: string
  values: (string | number)[]
}

const COMPARISONS = [
  ['eq', '='],
  ['gt', '>'],
  ['gte', '>='],
  ['lt', '<'],
  ['lte', '<='],
] as const

/** A filter as a condition that looks values up in the index of `metadata`. */
export function toCondition(filter: Filter): Condition {
  if ('and' in filter) return join(filter.and.map(toCondition), ' AND ')
  if ('or' in filter) return join(filter.or.map(toCondition), ' OR ')
  if ('not' in filter) return enclose('NOT (', [toCondition(filter.not)], ' AND ', ')')
  const parts = [{ sql: 'name = ?', values: [filter.field] }, ...fieldConditions(filter)]
  return enclose('number IN (SELECT document FROM metadata WHERE ', parts, ' AND ', ')')
}

/** A value of another kind is neither equal nor more nor less. */
function fieldConditions(condition: FieldCondition): Condition[] {
  const compared = COMPARISONS.flatMap(([name, operator]) => {
    const value = condition[name]
    if (value === undefined) return []
    return [{ sql: `kind = ? AND value ${operator} ?`, values: [typeof value, toColumn(value)] }]
  })
  if (condition.in === undefined) return compared
  const rows = condition.in.map((value) => ({
    sql: '(?, ?)',
    values: [typeof value, toColumn(value)],
  }))
  return [...compared, enclose('(kind, value) IN (VALUES ', rows, ', ', ')')]
}

function toColumn(value: MetadataValue): string | number {
  return typeof value === 'boolean' ? Number(value) : value
}

function join(parts: readonly Condition[], separator: string): Condition {
  return enclose('(', parts, separator, ')')
}

function enclose(
  before: string,
  parts: readonly Condition[],
  separator: string,
  after: string,
): Condition {
  return {
    sql: before + parts.map(({ sql }) => sql).join(separator) + after,
    values: parts.flatMap(({ values }) => values),
  }
}

/** So many last characters of a name are compared: of longer endings, too, they are enough. */
const COMPARED_CHARACTERS = 4
const ENDINGS = TABLE_ENDINGS.map((ending) => `'${ending.slice(-COMPARED_CHARACTERS)}'`).join(', ')

/** True for documents that may be tables; written as in the index, or SQLite would not use it. */
export const IS_TABLE = `lower(substr(coalesce(json_extract(file, '$.name'), title), -${COMPARED_CHARACTERS})) IN (${ENDINGS})`
