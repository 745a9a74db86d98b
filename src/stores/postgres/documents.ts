import { AppError } from '../../errors.ts'
import { MAX_METADATA_FIELDS } from '../../schemas/bounds.ts'
import { type DocumentStore, documentNotFound, type NewDocument } from '../document-store.ts'
import type { Query } from '../sql/query.ts'
import { fileToJson, type Row, toDocument, toJson } from '../sql/rows.ts'
import type { Database } from './database.ts'

/** The document with the id `$1`, held, where it is in one of the collections of a parameter. */
function lockAmong(parameter: string): string {
  return `SELECT id FROM agent_server.documents
    WHERE id = $1 AND agent_server.is_among(metadata, ${parameter}::text[]) FOR UPDATE`
}

const ADD: Query = {
  name: 'add_document',
  text: 'SELECT * FROM agent_server.add_document($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
}
const PUT: Query = {
  name: 'put_document',
  text: 'SELECT * FROM agent_server.put_document_among($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
}
const PATCH: Query = {
  name: 'patch_metadata',
  text: `SELECT patched.* FROM (${lockAmong('$5')}) AS own
    CROSS JOIN LATERAL agent_server.patch_metadata(own.id, $2, $3, $4) AS patched
    WHERE patched.number IS NOT NULL`,
}
const DELETE: Query = {
  name: 'delete_document',
  text: `SELECT agent_server.delete_document(own.id) AS keys FROM (${lockAmong('$2')}) AS own`,
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
}: Dependencies): Pick<DocumentStore, 'add' | 'put' | 'patchMetadata' | 'delete' | 'retry'> {
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
    put(document, among) {
      const values = [...toValues(document), queueLimit, among]
      const { id } = document
      return withJob(
        database.write({ ...PUT, milliseconds: LONG_MS }, values).catch(nameMissing(id)),
      )
    },
    async patchMetadata(id, patch, reclaim, among) {
      const [row] = await database.write(PATCH, [
        id,
        JSON.stringify(patch),
        reclaim,
        MAX_METADATA_FIELDS,
        among,
      ])
      return row && toDocument(row)
    },
    async delete(id, among) {
      const [row] = await database.write(DELETE, [id, among])
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
  return [id, text, text.length, title, url, toJson(metadata), fileToJson(file), file?.number]
}

function nameMissing(id: string) {
  return (error: unknown): never => {
    const isMissing = error instanceof AppError && error.code === 'document_not_found'
    throw isMissing ? documentNotFound(id) : error
  }
}
