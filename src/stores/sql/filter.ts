import type { FieldCondition, Filter } from '../../schemas/metadata.ts'
import type { SqlDialect } from './query.ts'

/** A condition on `documents`, with the values of its parameters, starting with `$1`. */
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

/** Translates a filter to a condition that uses the indexes of `metadata`; true without a filter. */
export function toCondition(filter: Filter | undefined, dialect: SqlDialect): Condition {
  const values: (string | number)[] = []
  const parameter = (value: string | number) => `$${values.push(value)}`
  const conditionsOf = (condition: FieldCondition): string[] => {
    const compared = COMPARISONS.flatMap(([name, operator]) => {
      const value = condition[name]
      return value === undefined ? [] : [dialect.compare(operator, value, parameter)]
    })
    if (condition.in === undefined) return compared
    return [...compared, dialect.isOneOf(condition.in, parameter)]
  }

  const write = (part: Filter): string => {
    if ('and' in part) return `(${part.and.map(write).join(' AND ')})`
    if ('or' in part) return `(${part.or.map(write).join(' OR ')})`
    if ('not' in part) return `NOT ${write(part.not)}`
    const conditions = [`name = ${parameter(part.field)}`, ...conditionsOf(part)]
    return `number IN (SELECT document FROM ${dialect.schema}.metadata WHERE ${conditions.join(' AND ')})`
  }

  return { sql: filter ? write(filter) : 'true', values }
}
