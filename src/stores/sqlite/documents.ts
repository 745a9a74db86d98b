import type { SQLTagStore } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../errors.ts'
import { MAX_METADATA_FIELDS } from '../../schemas/bounds.ts'
import type { MetadataPatch } from '../../schemas/metadata.ts'
import {
  type Among,
  documentNotFound,
  type Idempotency,
  idempotencyConflict,
  type NewDocument,
  queueFull,
  type StoredDocument,
  tooManyFields,
  type Version,
} from '../document-store.ts'
import type { NewFile } from '../file-store.ts'
import type { StoredSource } from '../source-store.ts'
import {
  fileToJson,
  integer,
  isAmong,
  type Row,
  sourceToJson,
  text,
  toDocument,
  toJson,
  toMetadata,
} from '../sql/rows.ts'

/** What clients do to documents. Each write runs within the caller's transaction. */
export function createDocumentWrites(sql: SQLTagStore, queueLimit: number) {
  const { insert, replace } = createRevisions(sql, queueLimit)

  return {
    add(document: NewDocument, idempotency?: Idempotency): StoredDocument {
      const known = idempotency && selectByKey(sql, idempotency)
      if (known) {
        if (document.file) sql.run`DELETE FROM files WHERE number = ${document.file.number}`
        return toDocument(known)
      }
      const row = insert(document)
      if (idempotency) {
        sql.run`
          INSERT INTO idempotency_keys (key, digest, document)
          VALUES (${idempotency.key}, ${idempotency.digest}, ${integer(row, 'number')})`
      }
      return toDocument(row)
    },

    put(document: NewDocument, among?: Among, before?: Version): StoredDocument {
      const found = sql.get`
        SELECT number, metadata, revision FROM documents WHERE id = ${document.id}`
      const isElsewhere = found && !isAmong(found, among)
      if (isElsewhere || isChanged(found, before)) throw documentNotFound(document.id)
      return toDocument(found ? replace(integer(found, 'number'), document) : insert(document))
    },

    patchMetadata(
      id: string,
      patch: MetadataPatch,
      reclaim: boolean,
      among?: Among,
    ): StoredDocument | undefined {
      const found = sql.get`SELECT number, status, metadata FROM documents WHERE id = ${id}`
      if (!found || !isAmong(found, among)) return undefined
      const number = integer(found, 'number')
      const change = JSON.stringify(patch)
      const isTaken = reclaim && text(found, 'status') === 'processing'
      if (isTaken) sql.run`UPDATE jobs SET claim = NULL WHERE document = ${number}`
      sql.run`
        UPDATE replacements SET metadata = json_patch(coalesce(metadata, '{}'), ${change})
        WHERE document = ${number}`
      sql.run`
        UPDATE documents
        SET metadata = json_patch(coalesce(metadata, '{}'), ${change}), updated_at = ${Date.now()},
          status = iif(${Number(isTaken)}, 'pending', status), attempts = attempts - ${Number(isTaken)}
        WHERE number = ${number}`
      const most = sql.get`
        SELECT max((SELECT count(*) FROM json_each(metadata))) AS fields FROM (
          SELECT metadata FROM documents WHERE number = ${number}
          UNION ALL SELECT metadata FROM replacements WHERE document = ${number})`
      if (integer(most, 'fields') > MAX_METADATA_FIELDS) throw tooManyFields()
      return toDocument(sql.get`SELECT * FROM documents WHERE number = ${number}`)
    },

    delete(id: string, among?: Among): number[] | undefined {
      const found = sql.get`SELECT number, metadata FROM documents WHERE id = ${id}`
      if (!found || !isAmong(found, among)) return undefined
      const number = integer(found, 'number')
      const removed = sql.all`SELECT key FROM chunks WHERE document = ${number}`
      sql.run`DELETE FROM jobs WHERE document = ${number}`
      sql.run`DELETE FROM chunks WHERE document = ${number}`
      sql.run`DELETE FROM contents WHERE document = ${number}`
      sql.run`DELETE FROM files WHERE document = ${number}`
      sql.run`DELETE FROM replacements WHERE document = ${number}`
      sql.run`DELETE FROM idempotency_keys WHERE document = ${number}`
      sql.run`DELETE FROM documents WHERE number = ${number}`
      return removed.map((row) => integer(row, 'key'))
    },

    retry(id: string): StoredDocument {
      const found = sql.get`SELECT number, status, revision FROM documents WHERE id = ${id}`
      if (!found) throw documentNotFound(id)
      if (text(found, 'status') !== 'failed') {
        throw new AppError('document_not_failed', 'Only a failed document can be retried')
      }
      const number = integer(found, 'number')
      const now = Date.now()
      sql.run`
        INSERT INTO jobs (document, revision, run_at)
        VALUES (${number}, ${integer(found, 'revision')}, ${now})`
      return toDocument(sql.get`
        UPDATE documents
        SET status = 'pending', attempts = 0, error_code = NULL, error_message = NULL,
          updated_at = ${now}
        WHERE number = ${number}
        RETURNING *`)
    },
  }
}

function isChanged(row: Row | undefined, before: Version | undefined): boolean {
  if (!before) return false
  return row?.revision !== before.revision || !isDeepStrictEqual(toMetadata(row), before.metadata)
}

function selectByKey(sql: SQLTagStore, { key, digest }: Idempotency): Row | undefined {
  const row = sql.get`
    SELECT documents.*, digest FROM idempotency_keys JOIN documents ON number = document
    WHERE key = ${key}`
  if (!row || text(row, 'digest') === digest) return row
  throw idempotencyConflict()
}

/** How a document gets a revision and the job to ingest it. Each runs within the caller's transaction. */
function createRevisions(sql: SQLTagStore, queueLimit: number) {
  const refuseWhenFull = () => {
    const jobs = sql.get`SELECT value FROM counts WHERE name = 'jobs'`
    if (integer(jobs, 'value') >= queueLimit) throw queueFull()
  }

  /** Stores the content of a revision and the job to ingest it, which replaces an earlier job. */
  const enqueue = (number: number, revision: number, text: string, now: number) => {
    sql.run`INSERT INTO contents (document, revision, text) VALUES (${number}, ${revision}, ${text})`
    sql.run`
      INSERT INTO jobs (document, revision, run_at) VALUES (${number}, ${revision}, ${now})
      ON CONFLICT (document) DO UPDATE SET revision = ${revision}, run_at = ${now}, claim = NULL`
  }

  /** Assigns a staged upload to the revision that was created from it. */
  const take = (file: NewFile | undefined, number: number, revision: number) => {
    if (!file) return
    const taken = sql.run`
      UPDATE files SET document = ${number}, revision = ${revision}
      WHERE number = ${file.number} AND document IS NULL`
    if (taken.changes === 0) throw new Error(`There is no staged upload ${file.number}`)
  }

  const keepSource = (number: number, source: StoredSource | undefined) => {
    sql.run`DELETE FROM sources WHERE document = ${number}`
    if (!source) return
    sql.run`
      INSERT INTO sources (document, source, fetch_at)
      VALUES (${number}, ${sourceToJson(source)}, ${source.dueAt ?? null})`
  }

  const insert = ({
    id,
    text,
    file,
    title,
    url,
    metadata,
    source,
  }: NewDocument): Row | undefined => {
    refuseWhenFull()
    const now = Date.now()
    const row = sql.get`
      INSERT INTO documents (id, title, url, metadata, file, status, characters, created_at, updated_at)
      VALUES (${id}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)}, ${fileToJson(file)},
        'pending', ${text.length}, ${now}, ${now})
      RETURNING *`
    const [number, revision] = [integer(row, 'number'), integer(row, 'revision')]
    enqueue(number, revision, text, now)
    take(file, number, revision)
    keepSource(number, source)
    return row
  }

  const replace = (number: number, { text, file, title, url, metadata, source }: NewDocument) => {
    if (!sql.get`SELECT document FROM jobs WHERE document = ${number}`) refuseWhenFull()
    const now = Date.now()
    const row = sql.get`
      UPDATE documents
      SET revision = revision + 1, status = 'pending', attempts = 0, error_code = NULL,
        error_message = NULL, updated_at = ${now}
      WHERE number = ${number}
      RETURNING *`
    sql.run`
      INSERT OR REPLACE INTO replacements (document, title, url, metadata, file, characters)
      VALUES (${number}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)},
        ${fileToJson(file)}, ${text.length})`
    const served = row?.served_revision ?? 0
    sql.run`DELETE FROM contents WHERE document = ${number} AND revision <> ${served}`
    sql.run`DELETE FROM files WHERE document = ${number} AND revision <> ${served}`
    enqueue(number, integer(row, 'revision'), text, now)
    take(file, number, integer(row, 'revision'))
    keepSource(number, source)
    return row
  }

  return { insert, replace }
}

/** Where documents were fetched from. Each write runs within the caller's transaction. */
export function createSourceWrites(sql: SQLTagStore) {
  return {
    takeSources(limit: number, milliseconds: number): string[] {
      const now = Date.now()
      const due = sql.all`
        SELECT id, number FROM sources JOIN documents ON number = document
        WHERE fetch_at <= ${now} ORDER BY fetch_at LIMIT ${limit}`
      for (const row of due) {
        sql.run`
          UPDATE sources SET fetch_at = ${now + milliseconds}
          WHERE document = ${integer(row, 'number')}`
      }
      return due.map((row) => text(row, 'id'))
    },

    noteSource(id: string, revision: number, source: StoredSource): void {
      sql.run`
        UPDATE sources SET source = ${sourceToJson(source)}, fetch_at = ${source.dueAt ?? null}
        WHERE document = (SELECT number FROM documents WHERE id = ${id} AND revision = ${revision})`
    },
  }
}

/** After this many pieces the writer's cache is emptied: they are not read again soon. */
const PIECES_BETWEEN_SHRINKS = 4

/** Stores the bytes of files. Each write runs within the caller's transaction. */
export function createFileWrites(sql: SQLTagStore) {
  return {
    beginFile(): number {
      const row = sql.get`INSERT INTO files (document) VALUES (NULL) RETURNING number`
      return integer(row, 'number')
    },

    addPiece(file: number, ordinal: number, bytes: Uint8Array): void {
      sql.run`INSERT INTO file_pieces (file, ordinal, bytes) VALUES (${file}, ${ordinal}, ${bytes})`
      if (ordinal % PIECES_BETWEEN_SHRINKS === 0) sql.run`PRAGMA shrink_memory`
    },

    dropStaged(number: number): void {
      sql.run`DELETE FROM files WHERE number = ${number} AND document IS NULL`
    },
  }
}
