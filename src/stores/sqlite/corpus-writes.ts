import type { SQLTagStore } from 'node:sqlite'
import type { Metadata } from '../../schemas/metadata.ts'
import type { CorpusChunks, CorpusDocument, CorpusStart } from '../corpus.ts'
import { integer } from './columns.ts'
import { insertKeyedVectors } from './vector-writes.ts'

/** Fills an empty database, record by record. Each runs inside a transaction of the caller's. */
export function createCorpusWrites(sql: SQLTagStore) {
  let embedding: CorpusStart['embedding']
  let number = 0
  let revision = 0
  let nextKey = 0

  return {
    start(record: CorpusStart): void {
      embedding = record.embedding
      nextKey = record.nextChunkKey
    },

    document({ document, contents, replacement, dueAt, idempotency }: CorpusDocument): void {
      number = insertDocument(sql, document)
      revision = document.servedRevision ?? 0
      for (const content of contents) {
        sql.run`
          INSERT INTO contents (document, revision, text)
          VALUES (${number}, ${content.revision}, ${content.text})`
      }
      if (replacement) {
        const { title, url, metadata, characters } = replacement
        sql.run`
          INSERT INTO replacements (document, title, url, metadata, characters)
          VALUES (${number}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)}, ${characters})`
      }
      for (const { key, digest } of idempotency) {
        sql.run`
          INSERT INTO idempotency_keys (key, digest, document) VALUES (${key}, ${digest}, ${number})`
      }
      if (dueAt === undefined) return
      sql.run`
        INSERT INTO jobs (document, revision, run_at)
        VALUES (${number}, ${document.revision}, ${dueAt})`
    },

    chunks({ chunks, vectors }: CorpusChunks): void {
      for (const { key, ordinal, start, end, heading, text } of chunks) {
        sql.run`
          INSERT INTO chunks (key, document, revision, ordinal, start, end, heading, text)
          VALUES (${key}, ${number}, ${revision}, ${ordinal}, ${start}, ${end}, ${heading}, ${text})`
        nextKey = Math.max(nextKey, key + 1)
      }
      if (embedding && vectors.keys.length > 0) insertKeyedVectors(sql, vectors, embedding)
    },

    end(): void {
      sql.run`UPDATE meta SET value = ${nextKey} WHERE name = 'next_chunk_key'`
    },
  }
}

function insertDocument(sql: SQLTagStore, document: CorpusDocument['document']): number {
  const { id, title, url, metadata, status, error, attempts, revision } = document
  const row = sql.get`
    INSERT INTO documents (id, title, url, metadata, status, error_code, error_message, attempts,
      revision, served_revision, characters, created_at, updated_at)
    VALUES (${id}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)}, ${status},
      ${error?.code ?? null}, ${error?.message ?? null}, ${attempts}, ${revision},
      ${document.servedRevision ?? null}, ${document.characters}, ${document.createdAt},
      ${document.updatedAt})
    RETURNING number`
  const number = integer(row, 'number')
  // A change of its own: the trigger that counts the chunks of all documents looks at changes.
  sql.run`UPDATE documents SET chunk_count = ${document.chunkCount} WHERE number = ${number}`
  return number
}

function toJson(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata)
}
