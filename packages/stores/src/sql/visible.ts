import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import { type Conditions, rightsCondition } from './access.ts'
import { ownerOf } from './conversations.ts'
import { filterCondition, type Testing } from './filter.ts'
import type { Statement, Value } from './query.ts'

/** A condition on `documents`, with the values of all parameters so far. */
export interface Condition {
  sql: string
  values: Value[]
  /** Makes a statement with the condition, which is prepared once if its text does not depend on the values. */
  statement: (sql: string) => Statement
}

/** Makes a parameter of a value, and returns its name. */
type Parameter = (value: string | number | readonly string[]) => `$${number}`

interface Selection {
  /** A selection of the visible documents. */
  filter?: Filter | undefined
  /** The values of the parameters before. */
  values?: readonly Value[]
  testing?: Testing
}

/**
 * The one place where a visibility becomes SQL: holds for the documents that are visible, and that the filter of the
 * selection takes.
 */
export function visibleTo(
  dialect: Conditions,
  visibility: Visibility,
  { filter, values: before = [], testing = 'indexed' }: Selection = {},
): Condition {
  const values = [...before]
  const parameter: Parameter = (value) => `$${values.push(value)}`
  const conditionsOf = (filter: Filter | undefined) =>
    filter ? [filterCondition(filter, parameter, testing)] : []
  const { collections, rights } = visibility
  const parts = [
    ...(collections === 'all' ? [] : [isOfCollections(dialect, collections, parameter)]),
    ...inConversations(visibility, parameter, [
      ...(rights === 'all' ? [] : rightsCondition(dialect, rights, parameter, testing)),
      ...conditionsOf(visibility.filter),
    ]),
    ...conditionsOf(filter),
  ]
  const isFixed = !visibility.filter && !filter
  return {
    sql: parts.join(' AND ') || 'true',
    values,
    statement: (sql) => (isFixed ? sql : { unprepared: sql }),
  }
}

function isOfCollections(
  { isIn }: Conditions,
  collections: readonly string[],
  parameter: Parameter,
): string {
  const others = collections.filter((name) => name !== DEFAULT_COLLECTION)
  const parts = [
    ...(others.length < collections.length ? ['documents.collection IS NULL'] : []),
    ...(others.length > 0 ? [`documents.collection ${isIn(parameter(others), 'text')}`] : []),
  ]
  return `(${parts.join(' OR ') || 'false'})`
}

/**
 * Holds for the documents of no conversation that meet the conditions `taken`, and for those of these conversations.
 */
function inConversations(
  { conversations }: Visibility,
  parameter: Parameter,
  conditions: readonly string[],
): string[] {
  if (conversations === 'all') {
    return conditions.length > 0
      ? [`(documents.conversation IS NOT NULL OR ${conditions.join(' AND ')})`]
      : []
  }
  const shared = ['documents.conversation IS NULL', ...conditions].join(' AND ')
  if (conversations === 'none') return [shared]
  const { owner, id } = conversations
  const own = `EXISTS (SELECT 1 FROM conversations
    WHERE id = documents.conversation AND owner = ${parameter(ownerOf({ owner }))})`
  const named = id === undefined ? own : `documents.conversation = ${parameter(id)} AND ${own}`
  return [`(${shared} OR ${named})`]
}
