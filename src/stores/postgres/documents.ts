import { AppError } from '../../errors.ts'
import { MAX_METADATA_FIELDS } from '../../schemas/bounds.ts'
import { type DocumentStore, documentNotFound, type NewDocument } from '../document-store.ts'
import type { SourceStore } from '../source-store.ts'
import {
  fileToJson,
  integer,
  type Row,
  sourceToJson,
  text,
  toDocument,
  toJson,
} from '../sql/rows.ts'
import { keysIn } from './codec.ts'
import type { Database } from './database.ts'

/** Locks the document with the id `$1` if it is in one of the collections in a parameter. */
function lockAmong(parameter: string): string {
  return `SELECT id FROM agent_server.documents
    WHERE id = $1 AND agent_server.is_among(metadata, ${parameter}::text[]) FOR UPDATE`
}

/** Stores a document with the source `$1`, due at `$2`, which replaces its previous source. */
function withSource(stored: string): string {
  return `
    WITH stored AS MATERIALIZED (${stored}),
    kept AS (
      INSERT INTO agent_server.sources (document, source, fetch_at)
      SELECT number, $1::text, $2::bigint FROM stored WHERE id = $3 AND $1::text IS NOT NULL
      ON CONFLICT (document) DO UPDATE SET source = excluded.source, fetch_at = excluded.fetch_at
    ),
    dropped AS (
      DELETE FROM agent_server.sources USING stored
      WHERE document = stored.number AND $1::text IS NULL
    )
    SELECT * FROM stored`
}

const ADD = withSource(
  'SELECT * FROM agent_server.add_document($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
)
const PUT_AMONG = 'agent_server.put_document_among($3, $4, $5, $6, $7, $8, $9, $10, $11, $12)'
const PUT = withSource(`SELECT * FROM ${PUT_AMONG}`)
const REPLACE = withSource(`
  SELECT stored.* FROM (
    SELECT FROM agent_server.documents 
    WHERE id = $3 AND revision = $13 AND metadata::jsonb IS NOT DISTINCT FROM $14::jsonb FOR UPDATE
  ) AS before CROSS JOIN LATERAL ${PUT_AMONG} AS stored`)
const PATCH = `SELECT patched.* FROM (${lockAmong('$5')}) AS own
  CROSS JOIN LATERAL agent_server.patch_metadata(own.id, $2, $3, $4) AS patched
  WHERE patched.number IS NOT NULL`
const DELETE = `SELECT agent_server.delete_document(own.id) AS keys FROM (${lockAmong('$2')}) AS own`
const RETRY = 'SELECT * FROM agent_server.retry_document($1)'

const TAKE_SOURCES = `WITH due AS (
    SELECT document, fetch_at FROM agent_server.sources WHERE fetch_at <= agent_server.now_ms()
    ORDER BY fetch_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE agent_server.sources AS each SET fetch_at = agent_server.now_ms() + $2
    FROM due WHERE each.document = due.document
    RETURNING each.document, due.fetch_at
  )
  SELECT id FROM taken JOIN agent_server.documents ON number = document
  ORDER BY fetch_at, document`
const NOTE_SOURCE = `UPDATE agent_server.sources SET source = $1, fetch_at = $2
  WHERE document = (SELECT number FROM agent_server.documents WHERE id = $3 AND revision = $4)`

/** A document's text may be as long as a request body. */
const LONG_MS = 30_000

interface Dependencies {
  database: Database
  queueLimit: number
  /** Signals that there is a new job. */
  jobCame: () => void
}

/** What clients do to documents. */
export function createDocumentWrites({
  database,
  queueLimit,
  jobCame,
}: Dependencies): Pick<DocumentStore, 'add' | 'put' | 'patchMetadata' | 'delete' | 'retry'> &
  SourceStore {
  const withJob = async (rows: Row[] | Promise<Row[]>) => {
    const [row] = await rows
    jobCame()
    return toDocument(row)
  }

  return {
    add(document, idempotency) {
      const values = [...toValues(document), idempotency?.key, idempotency?.digest, queueLimit]
      return withJob(database.write(ADD, values, LONG_MS))
    },
    async put(document, among, before) {
      const as = before && [before.revision, toJson(before.metadata)]
      const values = [...toValues(document), queueLimit, among, ...(as ?? [])]
      const { id } = document
      const written = database.write(as ? REPLACE : PUT, values, LONG_MS)
      const rows = await written.catch(nameMissing(id))
      if (rows.length === 0) throw documentNotFound(id)
      return withJob(rows)
    },
    async takeSources(limit, milliseconds) {
      const rows = await database.write(TAKE_SOURCES, [limit, milliseconds])
      return rows.map((row) => text(row, 'id'))
    },
    async noteSource(id, revision, source) {
      await database.write(NOTE_SOURCE, [sourceToJson(source), source.dueAt, id, revision])
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

function toValues({ id, text, file, title, url, metadata, source }: NewDocument) {
  const facts = [sourceToJson(source), source?.dueAt]
  return [
    ...facts,
    id,
    text,
    text.length,
    title,
    url,
    toJson(metadata),
    fileToJson(file),
    file?.number,
  ]
}

function nameMissing(id: string) {
  return (error: unknown): never => {
    const isMissing = error instanceof AppError && error.code === 'document_not_found'
    throw isMissing ? documentNotFound(id) : error
  }
}

/** A file that no document took is dropped this long after its last piece was added. */
const FORGOTTEN_MS = 24 * 3_600_000

const BEGIN = `INSERT INTO agent_server.files (touched_at) VALUES (agent_server.now_ms()) RETURNING number`
const ADD_PIECE = `WITH touched AS (UPDATE agent_server.files SET touched_at = agent_server.now_ms() WHERE number = $1)
  INSERT INTO agent_server.file_pieces (file, ordinal, bytes) VALUES ($1, $2, $3)`
const DROP = 'DELETE FROM agent_server.files WHERE number = $1 AND document IS NULL'
const DROP_FORGOTTEN = `DELETE FROM agent_server.files
  WHERE document IS NULL AND touched_at < agent_server.now_ms() - $1`
/** Stores the bytes of files. */
export function createFileWrites(database: Database) {
  return {
    async beginFile() {
      const [row] = await database.write(BEGIN)
      return integer(row, 'number')
    },
    async addPiece(file: number, ordinal: number, bytes: Uint8Array) {
      await database.write(ADD_PIECE, [file, ordinal, bytes])
    },
    async dropStaged(number: number) {
      await database.write(DROP, [number])
    },
    /** Removes uploads that were interrupted when a server ended. */
    async dropForgotten() {
      await database.write(DROP_FORGOTTEN, [FORGOTTEN_MS])
    },
  }
}
