import type { FieldCondition, Filter, MetadataValue } from '../../schemas/metadata.ts'

/** A condition on `documents`, with the values of its parameters, `$1` first. */
export interface Condition {
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

/** A filter as a condition that looks values up in the indexes of `metadata`. */
export function toCondition(filter: Filter): Condition {
  const values: (string | number)[] = []
  const parameter = (value: string | number) => `$${values.push(value)}`

  /** A value of another kind is neither equal nor more nor less. */
  const compare = (operator: string, value: MetadataValue): string => {
    if (typeof value === 'string') return `string ${operator} ${parameter(value)}`
    const kind = parameter(typeof value)
    return `string IS NULL AND kind = ${kind} AND number ${operator} ${parameter(Number(value))}::float8`
  }

  const conditionsOf = (condition: FieldCondition): string[] => {
    const compared = COMPARISONS.flatMap(([name, operator]) => {
      const value = condition[name]
      return value === undefined ? [] : [compare(operator, value)]
    })
    if (condition.in === undefined) return compared
    const either = condition.in.map((value) => `(${compare('=', value)})`)
    return [...compared, `(${either.join(' OR ')})`]
  }

  const write = (part: Filter): string => {
    if ('and' in part) return `(${part.and.map(write).join(' AND ')})`
    if ('or' in part) return `(${part.or.map(write).join(' OR ')})`
    if ('not' in part) return `NOT ${write(part.not)}`
    const conditions = [`name = ${parameter(part.field)}`, ...conditionsOf(part)]
    return `number IN (SELECT document FROM agent_server.metadata WHERE ${conditions.join(' AND ')})`
  }

  const sql = write(filter)
  return { sql, values }
}
