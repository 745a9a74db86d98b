import type { SQLTagStore } from 'node:sqlite'
import { AppError } from '../../errors.ts'
import { integer, type Row, text } from '../columns.ts'
import type { Idempotency, NewDocument, StoredDocument } from '../document-store.ts'
import { toDocument } from '../rows.ts'
import { createRevisions } from './revisions.ts'

interface Addition extends NewDocument {
  idempotency?: Idempotency | undefined
}

/** What clients do to documents. Each write runs inside a transaction of the caller's. */
export function createDocumentWrites(sql: SQLTagStore, queueLimit: number) {
  const { insert, replace } = createRevisions(sql, queueLimit)

  return {
    add({ idempotency, ...document }: Addition): StoredDocument {
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

    put(document: NewDocument): StoredDocument {
      const found = sql.get`SELECT number FROM documents WHERE id = ${document.id}`
      return toDocument(found ? replace(integer(found, 'number'), document) : insert(document))
    },

    delete(id: string): number[] | undefined {
      const found = sql.get`SELECT number FROM documents WHERE id = ${id}`
      if (!found) return undefined
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
      if (!found) {
        throw new AppError('document_not_found', `There is no document "${id}"`, { param: 'id' })
      }
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

function selectByKey(sql: SQLTagStore, { key, digest }: Idempotency): Row | undefined {
  const row = sql.get`
    SELECT documents.*, digest FROM idempotency_keys JOIN documents ON number = document
    WHERE key = ${key}`
  if (!row || text(row, 'digest') === digest) return row
  throw new AppError(
    'idempotency_conflict',
    'This Idempotency-Key came with another document before',
    { param: 'idempotency-key' },
  )
}
