import type { SQLTagStore } from 'node:sqlite'
import type { Metadata } from '../../schemas/metadata.ts'
import type {
  CorpusChunks,
  CorpusDocument,
  CorpusPiece,
  CorpusRecord,
  CorpusStart,
} from '../corpus.ts'
import type { StoredFile } from '../file-store.ts'
import { integer } from '../rows.ts'
import { insertChunk } from './chunks.ts'
import { insertKeyedVectors } from './vectors.ts'

/** Fills an empty database, record by record. Each runs inside a transaction of the caller's. */
export function createCorpusWrites(sql: SQLTagStore) {
  let start: CorpusStart | undefined
  let current = { number: 0, revision: 0 }
  let file: { number: number; revision: number; pieces: number } | undefined
  let nextKey = 0

  const addDocument = (record: CorpusDocument) => {
    const number = insertDocument(sql, record.document)
    insertContents(sql, number, record)
    current = { number, revision: record.document.servedRevision ?? 0 }
    file = undefined
  }
  const addChunks = ({ chunks, vectors }: CorpusChunks) => {
    for (const chunk of chunks) {
      insertChunk(sql, current.number, current.revision, chunk)
      nextKey = Math.max(nextKey, chunk.key + 1)
    }
    if (start?.embedding && vectors.keys.length > 0) {
      insertKeyedVectors(sql, vectors, start.embedding)
    }
  }
  const addPiece = ({ revision, bytes }: CorpusPiece) => {
    if (file?.revision !== revision) {
      const row = sql.get`
        INSERT INTO files (document, revision) VALUES (${current.number}, ${revision})
        RETURNING number`
      file = { number: integer(row, 'number'), revision, pieces: 0 }
    }
    if (bytes.length === 0) return
    sql.run`
      INSERT INTO file_pieces (file, ordinal, bytes)
      VALUES (${file.number}, ${file.pieces++}, ${bytes})`
  }

  return {
    add(record: CorpusRecord): void {
      if (record.kind === 'start') start = record
      else if (record.kind === 'document') addDocument(record)
      else if (record.kind === 'chunks') addChunks(record)
      else addPiece(record)
    },

    end(): void {
      const value = Math.max(nextKey, start?.nextChunkKey ?? 0)
      sql.run`UPDATE meta SET value = ${value} WHERE name = 'next_chunk_key'`
    },
  }
}

function insertContents(sql: SQLTagStore, number: number, record: CorpusDocument): void {
  const { document, contents, replacement, dueAt, idempotency } = record
  for (const { revision, text } of contents) {
    sql.run`INSERT INTO contents (document, revision, text) VALUES (${number}, ${revision}, ${text})`
  }
  for (const { key, digest } of idempotency) {
    sql.run`
      INSERT INTO idempotency_keys (key, digest, document) VALUES (${key}, ${digest}, ${number})`
  }
  if (replacement) {
    const { title, url, metadata, file, characters } = replacement
    sql.run`
      INSERT INTO replacements (document, title, url, metadata, file, characters)
      VALUES (${number}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)}, ${toJson(file)},
        ${characters})`
  }
  if (dueAt === undefined) return
  sql.run`
    INSERT INTO jobs (document, revision, run_at)
    VALUES (${number}, ${document.revision}, ${dueAt})`
}

function insertDocument(sql: SQLTagStore, document: CorpusDocument['document']): number {
  const { id, title, url, metadata, file, status, error, attempts, revision } = document
  const row = sql.get`
    INSERT INTO documents (id, title, url, metadata, file, status, error_code, error_message, attempts,
      revision, served_revision, characters, created_at, updated_at)
    VALUES (${id}, ${title ?? null}, ${url ?? null}, ${toJson(metadata)}, ${toJson(file)},
      ${status},
      ${error?.code ?? null}, ${error?.message ?? null}, ${attempts}, ${revision},
      ${document.servedRevision ?? null}, ${document.characters}, ${document.createdAt},
      ${document.updatedAt})
    RETURNING number`
  const number = integer(row, 'number')
  // A change of its own: the trigger that counts the chunks of all documents looks at changes.
  sql.run`UPDATE documents SET chunk_count = ${document.chunkCount} WHERE number = ${number}`
  return number
}

function toJson(value: Metadata | StoredFile | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
