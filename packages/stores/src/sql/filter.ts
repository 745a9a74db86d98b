import type { FieldCondition, Filter, MetadataValue } from '@agent-server/schemas/metadata.ts'

const COMPARISONS = [
  ['eq', '='],
  ['gt', '>'],
  ['gte', '>='],
  ['lt', '<'],
  ['lte', '<='],
] as const

/** Makes a parameter of a value, and returns its name, such as `$1`. */
export type Parameter = (value: string | number) => string

/**
 * How `documents` are tested: `indexed` looks the documents up by the indexes of `metadata`, `each` suits a few documents
 * that were found otherwise.
 */
export type Testing = 'indexed' | 'each'

/** Translates a filter to a condition on `documents`. */
export function filterCondition(filter: Filter, parameter: Parameter, testing: Testing): string {
  const conditionsOf = (condition: FieldCondition): string[] => {
    const compared = COMPARISONS.flatMap(([name, operator]) => {
      const value = condition[name]
      return value === undefined ? [] : [compare(operator, value, parameter)]
    })
    if (condition.in === undefined) return compared
    const kinds = Map.groupBy(condition.in, (value) => typeof value)
    const each = kinds.values().map((values) => isOneOf(values, parameter))
    return [...compared, `(${[...each].join(' OR ')})`]
  }

  const write = (part: Filter): string => {
    if ('and' in part) return `(${part.and.map(write).join(' AND ')})`
    if ('or' in part) return `(${part.or.map(write).join(' OR ')})`
    if ('not' in part) return `NOT ${write(part.not)}`
    const tests = [`name = ${parameter(part.field)}`, ...conditionsOf(part)].join(' AND ')
    return testing === 'indexed'
      ? `documents.number IN (SELECT document FROM metadata WHERE ${tests})`
      : `EXISTS (SELECT 1 FROM metadata WHERE document = documents.number AND ${tests})`
  }
  return write(filter)
}

/** Uses the index of the value's kind; a value of another kind never matches. */
function compare(operator: string, value: MetadataValue, parameter: Parameter): string {
  if (typeof value === 'string') return `string ${operator} ${parameter(value)}`
  return `kind = ${parameter(typeof value)} AND number ${operator} ${number(value, parameter)}`
}

/** Whether the value is one of these, which are of one kind. */
function isOneOf(values: readonly MetadataValue[], parameter: Parameter): string {
  const [kind] = values.map((value) => typeof value)
  const list = (of: (value: MetadataValue) => string) => values.map(of).join(', ')
  if (kind === 'string') return `string IN (${list((value) => parameter(String(value)))})`
  const isKind = `kind = ${parameter(String(kind))}`
  return `${isKind} AND number IN (${list((value) => number(value, parameter))})`
}

const number = (value: MetadataValue, parameter: Parameter) =>
  `CAST(${parameter(Number(value))} AS double precision)`
