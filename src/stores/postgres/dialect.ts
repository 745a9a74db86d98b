import type { MetadataValue } from '../../schemas/metadata.ts'
import type { Parameter, SqlDialect } from '../sql/query.ts'

export const POSTGRES: SqlDialect = {
  schema: 'agent_server',
  isInFirst: '= ANY ($1::bigint[])',
  counts: `SELECT sum(pending)::bigint AS pending, sum(processing)::bigint AS processing,
      sum(ready)::bigint AS ready, sum(failed)::bigint AS failed, sum(chunks)::bigint AS chunks,
      sum(jobs)::bigint AS jobs
    FROM agent_server.counts`,
  nameEnding: `lower("right"(coalesce(file::jsonb ->> 'name', title), 4))`,
  fileName: `file::jsonb ->> 'name'`,
  fold: (text) => `lower(${text}) COLLATE "C"`,
  number: 'number',
  string: 'string',
  compare,
  isOneOf(values, parameter) {
    return `(${values.map((value) => `(${compare('=', value, parameter)})`).join(' OR ')})`
  },
}

function compare(operator: string, value: MetadataValue, parameter: Parameter): string {
  if (typeof value === 'string') return `string ${operator} ${parameter(value)}`
  const kind = parameter(typeof value)
  return `string IS NULL AND kind = ${kind} AND number ${operator} ${parameter(Number(value))}::float8`
}
