import { integer, type Row } from '../columns.ts'
import type { DocumentStore, StoreCounts } from '../document-store.ts'
import { decodeCursor, encodeCursor } from '../list-cursor.ts'
import { toDocument } from '../rows.ts'
import type { Database, Query } from './database.ts'

const LONGEST_PAGE = 1_000

const DOCUMENT: Query = {
  name: 'document',
  text: 'SELECT * FROM agent_server.documents WHERE id = $1',
}
const KEY: Query = {
  name: 'idempotency_key',
  text: 'SELECT 1 AS one FROM agent_server.idempotency_keys WHERE key = $1',
}
const PAGE: Query = {
  name: 'documents',
  text: 'SELECT * FROM agent_server.documents WHERE number < $1 ORDER BY number DESC LIMIT $2',
}
const PAGE_OF_STATUS: Query = {
  name: 'documents_of_status',
  text: `SELECT * FROM agent_server.documents
    WHERE status = $3 AND number < $1 ORDER BY number DESC LIMIT $2`,
}
const COUNTS: Query = {
  name: 'counts',
  text: `SELECT sum(pending)::bigint AS pending, sum(processing)::bigint AS processing,
      sum(ready)::bigint AS ready, sum(failed)::bigint AS failed, sum(chunks)::bigint AS chunks,
      sum(jobs)::bigint AS jobs
    FROM agent_server.counts`,
}
const IDENTITY: Query = {
  name: 'identity',
  text: `SELECT value FROM agent_server.meta WHERE name = 'identity'`,
}
// A claim of another server is due when its lease ends: it may be the last that is heard of it.
const NEXT_JOB: Query = {
  name: 'next_job',
  text: `SELECT due_at FROM agent_server.jobs WHERE claim IS NULL OR owner <> $1
    ORDER BY due_at LIMIT 1`,
}

type Reads = Pick<DocumentStore, 'get' | 'hasKey' | 'list' | 'identity' | 'counts' | 'nextJobAt'>

/** What is asked of documents. Each query is one statement, and so sees one moment. */
export function createReads(database: Pick<Database, 'read'>, owner: string): Reads {
  return {
    async get(id) {
      const [row] = await database.read(DOCUMENT, [id])
      return row && toDocument(row)
    },

    hasKey: async (key) => (await database.read(KEY, [key])).length > 0,

    async list({ limit, cursor, status }) {
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
      const length = Math.max(0, Math.min(limit, LONGEST_PAGE))
      const rows =
        status === undefined
          ? await database.read(PAGE, [before, length + 1])
          : await database.read(PAGE_OF_STATUS, [before, length + 1, status])
      const shown = rows.slice(0, length)
      const nextCursor = rows.length > length ? cursorAfter(shown.at(-1)) : undefined
      return { documents: shown.map(toDocument), nextCursor }
    },

    async identity() {
      const [row] = await database.read(IDENTITY)
      return String(integer(row, 'value'))
    },

    async counts() {
      const [row] = await database.read(COUNTS)
      return toCounts(row)
    },

    async nextJobAt() {
      const [row] = await database.read(NEXT_JOB, [owner])
      return row && integer(row, 'due_at')
    },
  }
}

function cursorAfter(row: Row | undefined): string {
  return encodeCursor(integer(row, 'number'))
}

function toCounts(row: Row | undefined): StoreCounts {
  return {
    documents: {
      pending: integer(row, 'pending'),
      processing: integer(row, 'processing'),
      ready: integer(row, 'ready'),
      failed: integer(row, 'failed'),
    },
    chunks: integer(row, 'chunks'),
    jobs: integer(row, 'jobs'),
  }
}
