import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Filter, MetadataValue } from '@agent-server/schemas/metadata.ts'
import { textOfChunks } from '../chunk-codec.ts'
import type {
  DocumentPage,
  DocumentSelection,
  DocumentStore,
  ListQuery,
  NewChunk,
} from '../document-store.ts'
import {
  type DocumentLookup,
  type LookupQuery,
  type MetadataField,
  type PartQuery,
  TABLE_ENDINGS,
  type ValueQuery,
} from '../lookup.ts'
import { toDocument } from './columns.ts'
import { soundText } from './contents.ts'
import { decodeCursor, encodeCursor, isInteger, isText } from './cursor.ts'
import type { Dialect } from './dialect.ts'
import { integer, optionalInteger, type Row, type Statement, text, type Value } from './query.ts'
import { visibleTo } from './visible.ts'

type Ask = (statement: Statement, values: readonly Value[], signal?: AbortSignal) => Promise<Row[]>

/** This many last characters of a name are compared; they suffice for longer extensions, too. */
const COMPARED_CHARACTERS = 4
const ENDINGS = TABLE_ENDINGS.map((ending) => `'${ending.slice(-COMPARED_CHARACTERS)}'`).join(', ')

/** True for documents that may be tables; written as in the index, which is not used otherwise. */
export const isTable = ({ nameEnding, foundTables }: Dialect) =>
  `(${nameEnding} IN (${ENDINGS}) OR ${foundTables} IS NOT NULL)`

const SERVED = 'served_revision IS NOT NULL'

/** Queries over the whole corpus; `ask` gets their signals. */
export function createLookup(ask: Ask, dialect: Dialect) {
  const { pageOf, countOf, ...lists } = createLists(ask, dialect)
  return {
    ...lists,
    ...createTextReads(ask, dialect),

    async findDocuments(
      visibility: Visibility,
      { filter, tabular, ...page }: LookupQuery,
      signal?: AbortSignal,
    ) {
      const { sql, values } = visibleTo(dialect, visibility, { filter })
      const served = tabular ? `${SERVED} AND ${isTable(dialect)}` : SERVED
      return pageOf({ sql: `${served} AND ${sql}`, values }, page, signal)
    },

    async countDocuments(visibility: Visibility, filter: Filter | undefined, signal?: AbortSignal) {
      const { sql, values } = visibleTo(dialect, visibility, { filter })
      return countOf({ sql: `${SERVED} AND ${sql}`, values }, signal)
    },

    async collections(visibility: Visibility, limit: number, signal?: AbortSignal) {
      const { sql, values } = visibleTo(dialect, visibility)
      const query = `SELECT collection, count(*) AS documents FROM documents
        WHERE ${SERVED} AND collection IS NOT NULL AND ${sql}
        GROUP BY collection ORDER BY documents DESC, collection LIMIT $${values.length + 1}`
      const rows = await ask({ unprepared: query }, [...values, limit], signal)
      return rows.map((row) => ({
        name: text(row, 'collection'),
        documents: integer(row, 'documents'),
      }))
    },

    async goneConversations(visibility: Visibility, limit: number, signal?: AbortSignal) {
      const { sql, values } = visibleTo(dialect, visibility)
      const query = `SELECT DISTINCT conversation FROM documents
        WHERE conversation IS NOT NULL AND ${sql} AND NOT EXISTS (
          SELECT 1 FROM conversations WHERE id = documents.conversation)
        LIMIT $${values.length + 1}`
      const rows = await ask({ unprepared: query }, [...values, limit], signal)
      return rows.map((row) => text(row, 'conversation'))
    },

    async metadataFields(
      visibility: Visibility,
      { filter, limit }: LookupQuery,
      signal?: AbortSignal,
    ) {
      const { sql, values } = visibleTo(dialect, visibility, { filter })
      const query = `SELECT name, kind, count(*) AS documents, min(number) AS least_number,
          max(number) AS most_number, min(string) AS least_string,
          max(string) AS most_string
        FROM metadata
        WHERE document IN (SELECT number FROM documents WHERE ${SERVED} AND ${sql})
        GROUP BY name, kind ORDER BY documents DESC, name LIMIT $${values.length + 1}`
      return (await ask({ unprepared: query }, [...values, limit], signal)).map(toField)
    },

    async metadataValues(visibility: Visibility, query: ValueQuery, signal?: AbortSignal) {
      const { field, filter, characters, inOrder, limit } = query
      const { sql, values } = visibleTo(dialect, visibility, { filter })
      const expression = characters ? `substr(string, 1, ${Math.trunc(characters)})` : 'string'
      const statement = `SELECT kind, number AS counted_number, ${expression} AS counted_string,
          count(*) AS documents
        FROM metadata
        WHERE name = $${values.length + 1} AND document IN (
          SELECT number FROM documents WHERE ${SERVED} AND ${sql})
        GROUP BY kind, counted_number, counted_string
        ORDER BY ${inOrder ? '' : 'documents DESC,'} counted_number NULLS LAST, counted_string
        LIMIT $${values.length + 2}`
      const rows = await ask({ unprepared: statement }, [...values, field, limit], signal)
      return rows.map((row) => ({
        value: toValue(row, 'counted', kindOf(row)),
        documents: integer(row, 'documents'),
      }))
    },
  } satisfies DocumentLookup & Pick<DocumentStore, 'list' | 'countListed'>
}

function createTextReads(ask: Ask, dialect: Dialect) {
  const servedText = async (visibility: Visibility, id: string, signal?: AbortSignal) => {
    const { sql, values, statement } = visibleTo(dialect, visibility, {
      values: [id],
      testing: 'each',
    })
    const query = statement(`SELECT number, contents.text, contents.digest FROM documents
      JOIN contents ON document = number AND contents.revision = served_revision
      WHERE id = $1 AND ${sql}`)
    return (await ask(query, values, signal))[0]
  }
  // A long text is stored as its chunks alone: see `completeStaged`.
  const CHUNKS = `SELECT start, "end", text, page, page_end FROM chunks WHERE document = $1 ORDER BY ordinal`
  const LENGTH = `SELECT max("end") AS length FROM chunks WHERE document = $1`
  // With the chunk before and the one behind, whose pages tell what is between.
  const CHUNKS_WITHIN = `SELECT start, "end", text, page, page_end FROM chunks
    WHERE document = $1
      AND ordinal >= coalesce(
        (SELECT max(ordinal) FROM chunks WHERE document = $1 AND "end" <= $2), 0)
      AND ordinal <= coalesce(
        (SELECT min(ordinal) FROM chunks WHERE document = $1 AND start >= $3), ordinal)
    ORDER BY ordinal`

  return {
    async readText(visibility: Visibility, documentId: string, signal?: AbortSignal) {
      const row = await servedText(visibility, documentId, signal)
      const whole = row && soundText(row, documentId)
      if (whole !== '') return whole
      const chunks = await ask(CHUNKS, [integer(row, 'number')], signal)
      return textOfChunks(chunks.map(toSpan))
    },

    async readPart(
      visibility: Visibility,
      { documentId, start, end }: PartQuery,
      signal?: AbortSignal,
    ) {
      const row = await servedText(visibility, documentId, signal)
      if (!row) return undefined
      const whole = soundText(row, documentId)
      if (whole !== '')
        return { text: whole.slice(start, end), length: whole.length, isWhole: true }
      const document = integer(row, 'number')
      const [longest] = await ask(LENGTH, [document], signal)
      const length = longest?.length === null ? 0 : integer(longest, 'length')
      const last = Math.min(end ?? length, length)
      if (start >= last) return { text: '', length, isWhole: false }
      const chunks = (await ask(CHUNKS_WITHIN, [document, start, last], signal)).map(toSpan)
      const from = Math.min(start, chunks[0]?.start ?? start)
      const part = textOfChunks(chunks, from).slice(start - from, last - from)
      return { text: part, length, isWhole: false }
    },
  } satisfies Pick<DocumentLookup, 'readText' | 'readPart'>
}

/** The position of a row of `chunks` in its text, and its part of the text. */
function toSpan(row: Row): Pick<NewChunk, 'start' | 'end' | 'text' | 'page' | 'pageEnd'> {
  return {
    start: integer(row, 'start'),
    end: integer(row, 'end'),
    text: text(row, 'text'),
    page: optionalInteger(row, 'page'),
    pageEnd: optionalInteger(row, 'page_end'),
  }
}

function toField(row: Row): MetadataField {
  const kind = kindOf(row)
  return {
    name: text(row, 'name'),
    kind,
    documents: integer(row, 'documents'),
    least: toValue(row, 'least', kind),
    most: toValue(row, 'most', kind),
  }
}

function kindOf(row: Row): MetadataField['kind'] {
  const kind = text(row, 'kind')
  return kind === 'number' || kind === 'boolean' ? kind : 'string'
}

/** A value is stored in `…_number` or `…_string`, depending on its kind. */
function toValue(row: Row, column: string, kind: MetadataField['kind']): MetadataValue {
  if (kind === 'string') return text(row, `${column}_string`)
  const number = integer(row, `${column}_number`)
  return kind === 'boolean' ? number === 1 : number
}

const MAX_PAGE = 1_000
const NEWEST_FIRST = '-createdAt'
/** Only this much of a title is used for sorting, so that cursors stay short. */
const SORTED_CHARACTERS = 60

/** A condition on `documents`, with the values of its parameters. */
interface Selected {
  sql: string
  values: Value[]
}

/** Lists of documents, page by page; each page is a single statement. */
function createLists(ask: Ask, dialect: Dialect) {
  /** A page of the documents that match a condition. */
  const pageOf = async (
    { sql, values }: Selected,
    { limit, cursor, after, sort = NEWEST_FIRST }: Omit<ListQuery, keyof DocumentSelection>,
    signal?: AbortSignal,
  ): Promise<DocumentPage> => {
    const length = Math.max(0, Math.min(limit, MAX_PAGE))
    const key = sortKeys(dialect)[sort.replace('-', '')]
    const all: Value[] = [...values]
    const conditions = [sql]
    const beyond = sort.startsWith('-') ? '<' : '>'
    if (after !== undefined) {
      const number = `SELECT number FROM documents WHERE id = $${all.push(after)}`
      conditions.push(`number ${beyond} (${number})`)
    }
    if (cursor !== undefined) {
      const place = decodeCursor(sort, cursor, isKeyOf(sort))
      const parameters = `($${all.push(place.key)}, $${all.push(place.number)})`
      conditions.push(`(${key}, number) ${beyond} ${parameters}`)
    }
    const order = sort.startsWith('-') ? 'DESC' : 'ASC'
    const query = `SELECT *, ${key} AS sort_key FROM documents WHERE ${conditions.join(' AND ')}
      ORDER BY ${key} ${order}, number ${order} LIMIT $${all.push(length + 1)}`
    const rows = await ask({ unprepared: query }, all, signal)
    const page = rows.slice(0, length)
    const last = rows.length > length ? page.at(-1) : undefined
    const cursorAfter = (row: Row) =>
      encodeCursor(sort, {
        key: keyIn(row, sort),
        number: integer(row, 'number'),
      })
    return { documents: page.map(toDocument), nextCursor: last && cursorAfter(last) }
  }

  const countOf = async ({ sql, values }: Selected, signal?: AbortSignal) => {
    const query = `SELECT count(*) AS n FROM documents WHERE ${sql}`
    const [row] = await ask({ unprepared: query }, values, signal)
    return integer(row, 'n')
  }

  return {
    pageOf,
    countOf,

    list: (visibility: Visibility, query: ListQuery, signal?: AbortSignal) =>
      pageOf(toListCondition(visibility, query, dialect), query, signal),

    countListed: (visibility: Visibility, selection: DocumentSelection, signal?: AbortSignal) =>
      countOf(toListCondition(visibility, selection, dialect), signal),
  }
}

/** What is shown as the title of a document that has none. */
const shownTitle = ({ fileName }: Dialect) => `coalesce(title, ${fileName}, id)`

/** The sort keys by the name of the order; equal documents are sorted by their numbers, which increase with time. */
const sortKeys = (dialect: Dialect): Record<string, string> => ({
  createdAt: 'number',
  updatedAt: 'updated_at',
  characters: 'characters',
  title: dialect.fold(`substr(${shownTitle(dialect)}, 1, ${SORTED_CHARACTERS})`),
})

const isTitle = (sort: string) => sort.endsWith('title')
const isKeyOf = (sort: string): ((value: unknown) => value is string | number) =>
  isTitle(sort) ? isText : isInteger
const keyIn = (row: Row, sort: string) => (isTitle(sort) ? text : integer)(row, 'sort_key')

function toListCondition(
  visibility: Visibility,
  { filter, conversation, status, title, mediaType, sha256 }: DocumentSelection,
  dialect: Dialect,
): Selected {
  const { sql, values } = visibleTo(dialect, visibility, { filter })
  const parts = [sql]
  if (conversation !== undefined) parts.push(`conversation = $${values.push(conversation)}`)
  if (status !== undefined) {
    const names = [status].flat().map((name) => `$${values.push(name)}`)
    parts.push(`status IN (${names.join(', ')})`)
  }
  if (title !== undefined) {
    const part = dialect.fold(`$${values.push(title)}`)
    parts.push(dialect.contains(dialect.fold(shownTitle(dialect)), part))
  }
  if (mediaType !== undefined) {
    const beginning = mediaType.endsWith('*') ? mediaType.slice(0, -1) : undefined
    const { mediaType: type } = dialect
    const compared = beginning === undefined ? type : `substr(${type}, 1, ${beginning.length})`
    parts.push(`${compared} = $${values.push(beginning ?? mediaType)}`)
  }
  if (sha256 !== undefined) parts.push(`${dialect.fileDigest} = $${values.push(sha256)}`)
  return { sql: parts.join(' AND '), values }
}
