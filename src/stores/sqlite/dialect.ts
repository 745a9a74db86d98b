import type { MetadataValue } from '../../schemas/metadata.ts'
import type { SqlDialect } from '../sql/query.ts'
import { type Row, text } from '../sql/rows.ts'

const COUNTS = ['pending', 'processing', 'ready', 'failed', 'chunks', 'jobs']

/** A function of ours on the lookup connections: SQLite's own only folds the case of ASCII letters. */
export const FOLD = 'folded'

export const SQLITE: SqlDialect = {
  schema: 'main',
  isInFirst: 'IN (SELECT value FROM json_each($1))',
  counts: `SELECT ${COUNTS.map((name) => `sum(value) FILTER (WHERE name = '${name}') AS ${name}`).join(', ')}
    FROM main.counts`,
  nameEnding: `lower(substr(coalesce(json_extract(file, '$.name'), title), -4))`,
  fileName: `json_extract(file, '$.name')`,
  fold: (text) => `${FOLD}(${text})`,
  number: `iif(kind = 'string', NULL, value)`,
  string: `iif(kind = 'string', value, NULL)`,
  compare: (operator, value, parameter) =>
    `kind = ${parameter(typeof value)} AND value ${operator} ${parameter(toColumn(value))}`,
  isOneOf(values, parameter) {
    const rows = values.map((v) => `(${parameter(typeof v)}, ${parameter(toColumn(v))})`)
    return `(kind, value) IN (VALUES ${rows.join(', ')})`
  },
}

function toColumn(value: MetadataValue): string | number {
  return typeof value === 'boolean' ? Number(value) : value
}

/** Reads a row whose `keys` are a JSON array; returns them in ascending order. */
export function toKeys(row: Row | undefined): Uint32Array {
  return Uint32Array.from<number>(JSON.parse(text(row, 'keys'))).sort()
}
