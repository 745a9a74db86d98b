import { decodeCursor, decodeSortedCursor, encodeCursor, encodeSortedCursor } from '../cursor.ts'
import type { DocumentPage, DocumentSelection, ListQuery } from '../document-store.ts'
import { type Condition, toCondition } from './filter.ts'
import type { SqlDialect, Statement, Value } from './query.ts'
import { integer, type Row, text, toDocument } from './rows.ts'

const MAX_PAGE = 1_000
const NEWEST_FIRST = '-createdAt'
/** Of a title that is sorted by, so that cursors stay short. */
const SORTED_CHARACTERS = 60

export type Ask = (
  statement: Statement,
  values: readonly Value[],
  signal?: AbortSignal,
) => Promise<Row[]>

/** Lists of documents, page by page; each page is one statement. */
export function createLists(ask: Ask, dialect: SqlDialect) {
  const table = `${dialect.schema}.documents`

  /** Of the documents for which a condition holds. */
  const pageOf = async (
    { sql, values }: Condition,
    { limit, cursor, after, sort = NEWEST_FIRST }: Omit<ListQuery, keyof DocumentSelection>,
    signal?: AbortSignal,
  ): Promise<DocumentPage> => {
    const length = Math.max(0, Math.min(limit, MAX_PAGE))
    const key = sortKeys(dialect)[sort.replace('-', '')]
    const all: Value[] = [...values]
    const conditions = [sql]
    const beyond = sort.startsWith('-') ? '<' : '>'
    if (after !== undefined) {
      const number = `SELECT number FROM ${table} WHERE id = $${all.push(after)}`
      conditions.push(`number ${beyond} (${number})`)
    }
    if (cursor !== undefined) {
      const place = placeOf(sort, cursor)
      const parameters = `($${all.push(place.key)}, $${all.push(place.number)})`
      conditions.push(`(${key}, number) ${beyond} ${parameters}`)
    }
    const order = sort.startsWith('-') ? 'DESC' : 'ASC'
    const query = `SELECT *, ${key} AS sort_key FROM ${table} WHERE ${conditions.join(' AND ')}
      ORDER BY ${key} ${order}, number ${order} LIMIT $${all.push(length + 1)}`
    const rows = await ask({ made: query }, all, signal)
    const shown = rows.slice(0, length)
    const last = rows.length > length ? shown.at(-1) : undefined
    return { documents: shown.map(toDocument), nextCursor: last && cursorAfter(sort, last) }
  }

  const countOf = async ({ sql, values }: Condition, signal?: AbortSignal) => {
    const made = `SELECT count(*) AS n FROM ${table} WHERE ${sql}`
    const [row] = await ask({ made }, values, signal)
    return integer(row, 'n')
  }

  return {
    pageOf,
    countOf,

    list: (query: ListQuery, signal?: AbortSignal) =>
      pageOf(toListCondition(query, dialect), query, signal),

    countListed: (selection: DocumentSelection, signal?: AbortSignal) =>
      countOf(toListCondition(selection, dialect), signal),
  }
}

/** What goes for the title of a document that has none. */
const shownTitle = ({ fileName }: SqlDialect) => `coalesce(title, ${fileName}, id)`

/** What documents are sorted by, by the name of the order; equal ones are sorted by their numbers, which grow with time. */
const sortKeys = (dialect: SqlDialect): Record<string, string> => ({
  createdAt: 'number',
  updatedAt: 'updated_at',
  characters: 'characters',
  title: dialect.fold(`substr(${shownTitle(dialect)}, 1, ${SORTED_CHARACTERS})`),
})

function toListCondition(
  { filter, status, title }: DocumentSelection,
  dialect: SqlDialect,
): Condition {
  const { sql, values } = toCondition(filter, dialect)
  const parts = [sql]
  if (status !== undefined) {
    const names = [status].flat().map((name) => `$${values.push(name)}`)
    parts.push(`status IN (${names.join(', ')})`)
  }
  if (title !== undefined) {
    const pattern = `$${values.push(`%${title.replaceAll(/[\\%_]/g, '\\$&')}%`)}`
    parts.push(`${dialect.fold(shownTitle(dialect))} LIKE ${dialect.fold(pattern)} ESCAPE '\\'`)
  }
  return { sql: parts.join(' AND '), values }
}

function placeOf(sort: string, cursor: string) {
  if (sort !== NEWEST_FIRST) return decodeSortedCursor(sort, cursor)
  const number = decodeCursor(cursor)
  return { key: number, number }
}

function cursorAfter(sort: string, row: Row): string {
  const number = integer(row, 'number')
  if (sort === NEWEST_FIRST) return encodeCursor(number)
  const key = sort.endsWith('title') ? text(row, 'sort_key') : integer(row, 'sort_key')
  return encodeSortedCursor(sort, { key, number })
}
