import type { SQLTagStore } from 'node:sqlite'
import type { Metadata } from '../../schemas/metadata.ts'
import { integer, type Row } from '../columns.ts'
import type { NewDocument } from '../document-store.ts'
import type { NewFile, StoredFile } from '../file-store.ts'
import { queueFull } from '../queue-full.ts'

/** How a document gets a revision and the job to ingest it. Each runs inside a transaction of the caller's. */
export function createRevisions(sql: SQLTagStore, queueLimit: number) {
  const refuseWhenFull = () => {
    const jobs = sql.get`SELECT value FROM counts WHERE name = 'jobs'`
    if (integer(jobs, 'value') >= queueLimit) throw queueFull()
  }

  /** The content of a revision, and the job to ingest it, in the place of an earlier job if there is one. */
  const enqueue = (number: number, revision: number, text: string, now: number) => {
    sql.run`INSERT INTO contents (document, revision, text) VALUES (${number}, ${revision}, ${text})`
    sql.run`
      INSERT INTO jobs (document, revision, run_at) VALUES (${number}, ${revision}, ${now})
      ON CONFLICT (document) DO UPDATE SET revision = ${revision}, run_at = ${now}, claim = NULL`
  }

  /** Gives a kept file to the revision that was made of it. */
  const take = (file: NewFile | undefined, number: number, revision: number) => {
    if (!file) return
    const taken = sql.run`
      UPDATE files SET document = ${number}, revision = ${revision}
      WHERE number = ${file.number} AND document IS NULL`
    if (taken.changes === 0) throw new Error(`There is no kept file ${file.number}`)
  }

  const insert = ({ id, text, file, title, url, metadata }: NewDocument): Row | undefined => {
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
    return row
  }

  const replace = (number: number, { text, file, title, url, metadata }: NewDocument) => {
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
    return row
  }

  return { insert, replace }
}

function toJson(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata)
}

function fileToJson(file: NewFile | undefined): string | null {
  if (!file) return null
  const { name, mediaType, size } = file
  return JSON.stringify({ name, mediaType, size } satisfies StoredFile)
}
