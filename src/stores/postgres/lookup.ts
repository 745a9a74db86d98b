import { untilAborted } from '../../lib/abort.ts'
import type { Filter, MetadataValue } from '../../schemas/metadata.ts'
import { textOfChunks } from '../chunk-codec.ts'
import { decodeCursor } from '../cursor.ts'
import { type DocumentLookup, type MetadataField, TABLE_ENDINGS } from '../lookup.ts'
import { integer, type Row, text, toSpan } from '../rows.ts'
import type { Value } from './codec.ts'
import type { Database, Query } from './database.ts'
import { toDocumentPage } from './documents.ts'
import { type Condition, toCondition } from './filter-sql.ts'

const MILLISECONDS = 30_000
/** The last characters that tell a table; the longest ending is longer, and still told apart by them. */
const TOLD_BY = 4
const ENDINGS = TABLE_ENDINGS.map((ending) => `'${ending.slice(-TOLD_BY)}'`).join(', ')
/** Written as in the index of `1-tables.sql`, or it would not be used. */
const IS_TABLE = `lower("right"(coalesce(file::jsonb ->> 'name', title), ${TOLD_BY})) IN (${ENDINGS})`

const SERVED = 'served_revision IS NOT NULL'
const FIELDS: Query = {
  text: `SELECT name, kind, count(*) AS documents, min(number) AS least_number,
      max(number) AS most_number, min(string) AS least_string, max(string) AS most_string
    FROM agent_server.metadata
    WHERE document IN (SELECT number FROM agent_server.documents WHERE ${SERVED})
    GROUP BY name, kind ORDER BY documents DESC, name LIMIT $1`,
}
const TEXT: Query = {
  name: 'served_text',
  text: `SELECT number, contents.text FROM agent_server.documents
    JOIN agent_server.contents ON document = number AND contents.revision = served_revision
    WHERE id = $1`,
}
/** Of a long text there are the chunks alone: see `completeStaged`. */
const CHUNKS: Query = {
  name: 'served_chunks',
  text: 'SELECT start, "end", text FROM agent_server.chunks WHERE document = $1 ORDER BY ordinal',
}

/** Questions about the whole of the corpus, on the connections for reading. */
export function createLookup(database: Database): DocumentLookup {
  const ask = async (query: Query, values: readonly Value[], signal: AbortSignal) => {
    signal.throwIfAborted()
    return untilAborted(database.read({ milliseconds: MILLISECONDS, ...query }, values), signal)
  }

  return {
    async findDocuments({ filter, tabular, limit, cursor }, signal) {
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
      const { sql, values } = conditionOf(filter)
      const query = `SELECT * FROM agent_server.documents
        WHERE ${SERVED} ${tabular ? `AND ${IS_TABLE}` : ''} AND ${sql}
          AND number < $${values.length + 1} ORDER BY number DESC LIMIT $${values.length + 2}`
      const rows = await ask({ text: query }, [...values, before, limit + 1], signal)
      return toDocumentPage(rows, limit)
    },

    async countDocuments(filter, signal) {
      const { sql, values } = conditionOf(filter)
      const query = `SELECT count(*) AS n FROM agent_server.documents WHERE ${SERVED} AND ${sql}`
      const [row] = await ask({ text: query }, values, signal)
      return integer(row, 'n')
    },

    async metadataFields(limit, signal) {
      return (await ask(FIELDS, [limit], signal)).map(toField)
    },

    async metadataValues({ field, filter, characters, inOrder, limit }, signal) {
      const { sql, values } = conditionOf(filter)
      const string = characters ? `"left"(string, ${Math.trunc(characters)})` : 'string'
      const query = `SELECT kind, number AS counted_number, ${string} AS counted_string,
          count(*) AS documents
        FROM agent_server.metadata
        WHERE name = $${values.length + 1}
          AND document IN (SELECT number FROM agent_server.documents WHERE ${SERVED} AND ${sql})
        GROUP BY kind, counted_number, counted_string
        ORDER BY ${inOrder ? '' : 'documents DESC,'} counted_number NULLS LAST, counted_string
        LIMIT $${values.length + 2}`
      const rows = await ask({ text: query }, [...values, field, limit], signal)
      return rows.map((row) => ({
        value: toValue(row, 'counted', kindOf(row)),
        documents: integer(row, 'documents'),
      }))
    },

    async readText(documentId, signal) {
      const [row] = await ask(TEXT, [documentId], signal)
      const whole = row && text(row, 'text')
      if (whole !== '') return whole
      const chunks = await ask(CHUNKS, [integer(row, 'number')], signal)
      return textOfChunks(chunks.map(toSpan))
    },
  }
}

function conditionOf(filter: Filter | undefined): Condition {
  return filter ? toCondition(filter) : { sql: 'true', values: [] }
}

function toField(row: Row): MetadataField {
  const kind = kindOf(row)
  return {
    ...{ name: text(row, 'name'), kind, documents: integer(row, 'documents') },
    ...{ least: toValue(row, 'least', kind), most: toValue(row, 'most', kind) },
  }
}

function kindOf(row: Row): MetadataField['kind'] {
  const kind = text(row, 'kind')
  return kind === 'number' || kind === 'boolean' ? kind : 'string'
}

/** Of the two columns of a value, `…_number` and `…_string`, the one that its kind uses. */
function toValue(row: Row, column: string, kind: MetadataField['kind']): MetadataValue {
  if (kind === 'string') return text(row, `${column}_string`)
  const number = integer(row, `${column}_number`)
  return kind === 'boolean' ? number === 1 : number
}
