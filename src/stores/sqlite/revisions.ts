import type { SQLTagStore } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import type { Metadata } from '../../schemas/metadata.ts'
import { integer, type Row } from '../columns.ts'
import type { NewDocument } from '../document-store.ts'

// About what a worker takes to make room for some of those who were refused.
const QUEUE_FULL_RETRY_SECONDS = 5

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

  const insert = ({ id, text, title, url, metadata }: NewDocument): Row | undefined => {
    refuseWhenFull()
    const now = Date.now()
    const row = sql.get`
      INSERT INTO documents (id, title, url, metadata, status, characters, created_at, updated_at)
      VALUES (${id}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)}, 'pending',
        ${text.length}, ${now}, ${now})
      RETURNING *`
    enqueue(integer(row, 'number'), integer(row, 'revision'), text, now)
    return row
  }

  const replace = (number: number, { text, title, url, metadata }: NewDocument) => {
    if (!sql.get`SELECT document FROM jobs WHERE document = ${number}`) refuseWhenFull()
    const now = Date.now()
    const row = sql.get`
      UPDATE documents
      SET revision = revision + 1, status = 'pending', attempts = 0, error_code = NULL,
        error_message = NULL, updated_at = ${now}
      WHERE number = ${number}
      RETURNING *`
    sql.run`
      INSERT OR REPLACE INTO replacements (document, title, url, metadata, characters)
      VALUES (${number}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)}, ${text.length})`
    const served = row?.served_revision ?? 0
    sql.run`DELETE FROM contents WHERE document = ${number} AND revision <> ${served}`
    enqueue(number, integer(row, 'revision'), text, now)
    return row
  }

  return { insert, replace }
}

function toJson(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata)
}

function queueFull(): AppError {
  return new AppError('queue_full', 'Too many documents wait for ingestion', {
    retryAfter: QUEUE_FULL_RETRY_SECONDS,
  })
}
