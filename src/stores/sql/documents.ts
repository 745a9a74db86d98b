import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { DocumentPage, DocumentStore } from '../document-store.ts'
import type { Read, SqlDialect } from './query.ts'
import { integer, type Row, toDocument } from './rows.ts'

const MAX_PAGE = 1_000

type DocumentReads = Pick<DocumentStore, 'get' | 'hasKey' | 'list' | 'identity' | 'counts'>

/** What is asked of documents. Each query is one statement, and so sees one moment. */
export function createDocumentReads(read: Read, { schema, counts }: SqlDialect): DocumentReads {
  const DOCUMENT = { name: 'document', text: `SELECT * FROM ${schema}.documents WHERE id = $1` }
  const KEY = {
    name: 'idempotency_key',
    text: `SELECT 1 AS one FROM ${schema}.idempotency_keys WHERE key = $1`,
  }
  const PAGE = {
    name: 'documents',
    text: `SELECT * FROM ${schema}.documents WHERE number < $1 ORDER BY number DESC LIMIT $2`,
  }
  const PAGE_OF_STATUS = {
    name: 'documents_of_status',
    text: `SELECT * FROM ${schema}.documents
      WHERE status = $3 AND number < $1 ORDER BY number DESC LIMIT $2`,
  }
  const IDENTITY = {
    name: 'identity',
    text: `SELECT value FROM ${schema}.meta WHERE name = 'identity'`,
  }

  return {
    async get(id) {
      const [row] = await read(DOCUMENT, [id])
      return row && toDocument(row)
    },

    hasKey: async (key) => (await read(KEY, [key])).length > 0,

    async list({ limit, cursor, status }) {
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
      const length = Math.max(0, Math.min(limit, MAX_PAGE))
      const rows =
        status === undefined
          ? await read(PAGE, [before, length + 1])
          : await read(PAGE_OF_STATUS, [before, length + 1, status])
      return toDocumentPage(rows, length)
    },

    async identity() {
      const [row] = await read(IDENTITY)
      return String(integer(row, 'value'))
    },

    async counts() {
      const [row] = await read({ name: 'counts', text: counts })
      const count = (name: string) => integer(row, name)
      return {
        documents: {
          pending: count('pending'),
          processing: count('processing'),
          ready: count('ready'),
          failed: count('failed'),
        },
        chunks: count('chunks'),
        jobs: count('jobs'),
      }
    },
  }
}

/** Of rows in the order of their numbers, one more than are shown where there are more. */
export function toDocumentPage(rows: readonly Row[], length: number): DocumentPage {
  const shown = rows.slice(0, length)
  const last = rows.length > length ? shown.at(-1) : undefined
  const nextCursor = last && encodeCursor(integer(last, 'number'))
  return { documents: shown.map(toDocument), nextCursor }
}
