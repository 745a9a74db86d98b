import { AppError } from '../../errors.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { DocumentPage, DocumentStore, NewDocument, StoreCounts } from '../document-store.ts'
import { integer, type Row, toDocument } from '../rows.ts'
import { fileToJson } from './codec.ts'
import type { Database, Query } from './database.ts'

const ADD: Query = {
  name: 'add_document',
  text: 'SELECT * FROM agent_server.add_document($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
}
const PUT: Query = {
  name: 'put_document',
  text: 'SELECT * FROM agent_server.put_document($1, $2, $3, $4, $5, $6, $7, $8, $9)',
}
const DELETE: Query = {
  name: 'delete_document',
  text: 'SELECT agent_server.delete_document($1) AS keys',
}
const RETRY: Query = {
  name: 'retry_document',
  text: 'SELECT * FROM agent_server.retry_document($1)',
}

/** A document's text may be as long as a request's body. */
const LONG_MS = 30_000

interface Dependencies {
  database: Database
  queueLimit: number
  /** Says that there is a job that was not there before. */
  jobCame: () => void
}

/** What clients do to documents. */
export function createDocumentWrites({
  database,
  queueLimit,
  jobCame,
}: Dependencies): Pick<DocumentStore, 'add' | 'put' | 'delete' | 'retry'> {
  const withJob = async (rows: Promise<Row[]>) => {
    const [row] = await rows
    jobCame()
    return toDocument(row)
  }

  return {
    add(document, idempotency) {
      const values = [...toValues(document), idempotency?.key, idempotency?.digest, queueLimit]
      return withJob(database.write({ ...ADD, milliseconds: LONG_MS }, values))
    },
    put(document) {
      const values = [...toValues(document), queueLimit]
      return withJob(database.write({ ...PUT, milliseconds: LONG_MS }, values))
    },
    async delete(id) {
      const [row] = await database.write(DELETE, [id])
      return keysIn(row)
    },
    retry: (id) => withJob(database.write(RETRY, [id]).catch(nameMissing(id))),
  }
}

/** The keys that a function answers as `keys`, unless it answers none. */
export function keysIn(row: Row | undefined): number[] | undefined {
  const keys = row?.keys
  return Array.isArray(keys) ? keys : undefined
}

function toValues({ id, text, file, title, url, metadata }: NewDocument) {
  const facts = metadata === undefined ? undefined : JSON.stringify(metadata)
  return [id, text, text.length, title, url, facts, fileToJson(file), file?.number]
}

function nameMissing(id: string) {
  return (error: unknown): never => {
    const isMissing = error instanceof AppError && error.code === 'document_not_found'
    throw isMissing
      ? new AppError(error.code, `There is no document "${id}"`, { param: 'id' })
      : error
  }
}

const MAX_PAGE = 1_000

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
export function createReads(database: Database, owner: string): Reads {
  return {
    async get(id) {
      const [row] = await database.read(DOCUMENT, [id])
      return row && toDocument(row)
    },

    hasKey: async (key) => (await database.read(KEY, [key])).length > 0,

    async list({ limit, cursor, status }) {
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
      const length = Math.max(0, Math.min(limit, MAX_PAGE))
      const rows =
        status === undefined
          ? await database.read(PAGE, [before, length + 1])
          : await database.read(PAGE_OF_STATUS, [before, length + 1, status])
      return toDocumentPage(rows, length)
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

/** Of rows in the order of their numbers, one more than are shown where there are more. */
export function toDocumentPage(rows: readonly Row[], length: number): DocumentPage {
  const shown = rows.slice(0, length)
  const last = rows.length > length ? shown.at(-1) : undefined
  const nextCursor = last && encodeCursor(integer(last, 'number'))
  return { documents: shown.map(toDocument), nextCursor }
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
