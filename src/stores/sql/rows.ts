import { COLLECTION } from '../../schemas/bounds.ts'
import type { Metadata } from '../../schemas/metadata.ts'
import { dimensionOf, fromHalfFloats } from '../chunk-codec.ts'
import type { CorpusDocument, CorpusReplacement, CorpusStart } from '../corpus.ts'
import {
  type Among,
  DOCUMENT_STATUSES,
  type DocumentFailure,
  type EmbeddingModel,
  type IngestionJob,
  type KeyedVectors,
  type NewChunk,
  type StoredChunk,
  type StoredDocument,
} from '../document-store.ts'
import type { StoredFile } from '../file-store.ts'
import type { OutboxEvent } from '../outbox.ts'
import type { StoredSource } from '../source-store.ts'

/** Reads a row of `documents`. */
export function toDocument(row: Row | undefined): StoredDocument {
  return {
    id: text(row, 'id'),
    title: optionalText(row, 'title'),
    url: optionalText(row, 'url'),
    metadata: toMetadata(row),
    file: toFile(row),
    source: typeof row?.source === 'string' ? JSON.parse(row.source) : undefined,
    status: toStatus(text(row, 'status')),
    error: toFailure(row),
    attempts: integer(row, 'attempts'),
    revision: integer(row, 'revision'),
    servedRevision: optionalInteger(row, 'served_revision'),
    chunkCount: integer(row, 'chunk_count'),
    characters: integer(row, 'characters'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}

/** Whether a document, according to the metadata in its row, is in one of these collections. */
export function isAmong(row: Row, among: Among | undefined): boolean {
  if (!among) return true
  const { [COLLECTION]: named } = toMetadata(row) ?? {}
  return among.includes(typeof named === 'string' ? named : null)
}

/** Reads a row of `chunks` joined with its document's `id`, `title`, `url` and `metadata`. */
export function toChunk(row: Row): StoredChunk {
  const documentId = text(row, 'id')
  return {
    ...toNewChunk(row),
    id: `${documentId}-${integer(row, 'revision')}-${integer(row, 'ordinal')}`,
    documentId,
    title: optionalText(row, 'title'),
    url: optionalText(row, 'url'),
    metadata: toMetadata(row),
  }
}

/** Reads a row of `chunks`. */
export function toNewChunk(row: Row): NewChunk {
  return {
    key: integer(row, 'key'),
    ordinal: integer(row, 'ordinal'),
    text: text(row, 'text'),
    heading: text(row, 'heading'),
    start: integer(row, 'start'),
    end: integer(row, 'end'),
    page: optionalInteger(row, 'page'),
    pageEnd: optionalInteger(row, 'page_end'),
  }
}

/** The position of a row of `chunks` in its text, and its part of the text. */
export function toSpan(row: Row): Pick<NewChunk, 'start' | 'end' | 'text'> {
  return { start: integer(row, 'start'), end: integer(row, 'end'), text: text(row, 'text') }
}

/** Reads the column `file`. */
export function toFile(row: Row | undefined): StoredFile | undefined {
  const json = optionalText(row, 'file')
  return json === undefined ? undefined : JSON.parse(json)
}

/** Encodes the column `file`; the name loses characters that PostgreSQL's JSON cannot hold. */
export function fileToJson(file: StoredFile | undefined): string | null {
  if (!file) return null
  const { name, mediaType, size, notes } = file
  const plain = name.replaceAll('\0', ' ').toWellFormed()
  return JSON.stringify({
    name: plain,
    mediaType,
    size,
    ...(notes && { notes }),
  } satisfies StoredFile)
}

export function sourceToJson(source: StoredSource | undefined): string | null {
  return source ? JSON.stringify(source) : null
}

export function toJson(metadata: Metadata | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata)
}

/** Reads the column `metadata`. */
export function toMetadata(row: Row | undefined): Metadata | undefined {
  const json = optionalText(row, 'metadata')
  return json === undefined ? undefined : JSON.parse(json)
}

/** Reads a row of `embeddings`. */
export function toEmbedding(row: Row | undefined): EmbeddingModel | undefined {
  return row && { model: text(row, 'model'), dimension: integer(row, 'dimension') }
}

/** Reads rows with `key` and `vector`. */
export function toVectors(rows: readonly Row[]): KeyedVectors {
  const dimension = rows.length > 0 ? dimensionOf(bytes(rows[0], 'vector')) : 0
  const keys = new Uint32Array(rows.length)
  const values = new Float32Array(rows.length * dimension)
  for (const [position, row] of rows.entries()) {
    keys[position] = integer(row, 'key')
    const start = position * dimension
    fromHalfFloats(bytes(row, 'vector'), values.subarray(start, start + dimension))
  }
  return { keys, dimension, values }
}

/** Reads a row of totals, with `documents`, `chunks` and `next_key`. */
export function toCorpusStart(totals: Row | undefined, embedding: Row | undefined): CorpusStart {
  return {
    kind: 'start',
    embedding: toEmbedding(embedding),
    documents: integer(totals, 'documents'),
    chunks: integer(totals, 'chunks'),
    nextChunkKey: integer(totals, 'next_key'),
  }
}

/** Reads a row of `documents` joined with its job's `run_at`, and its rows in other tables. */
export function toCorpusDocument(
  row: Row,
  contents: readonly Row[],
  replacement: Row | undefined,
  keys: readonly Row[],
): CorpusDocument {
  const document = toDocument(row)
  const status = document.status === 'processing' ? 'pending' : document.status
  return {
    kind: 'document',
    document: { ...document, status },
    contents: contents.map((content) => ({
      revision: integer(content, 'revision'),
      text: text(content, 'text'),
    })),
    replacement: replacement && toReplacement(replacement),
    dueAt: optionalInteger(row, 'run_at'),
    idempotency: keys.map((key) => ({ key: text(key, 'key'), digest: text(key, 'digest') })),
  }
}

function toReplacement(row: Row): CorpusReplacement {
  return {
    title: optionalText(row, 'title'),
    url: optionalText(row, 'url'),
    metadata: toMetadata(row),
    file: toFile(row),
    characters: integer(row, 'characters'),
  }
}

/** Reads a job that has just been claimed. */
export function toJob(row: Row | undefined): IngestionJob {
  return {
    documentId: text(row, 'id'),
    revision: integer(row, 'revision'),
    claim: integer(row, 'claim'),
    attempt: integer(row, 'attempts'),
    title: optionalText(row, 'title'),
    url: optionalText(row, 'url'),
    metadata: toMetadata(row),
    text: text(row, 'text'),
    file: toFile(row),
  }
}

/** Reads a row of the outbox that has just been taken, including `document_id`. */
export function toOutboxEvent(row: Row): OutboxEvent {
  return {
    id: text(row, 'id'),
    documentId: text(row, 'document_id'),
    revision: integer(row, 'revision'),
    status: text(row, 'status') === 'ready' ? 'ready' : 'failed',
    error: toFailure(row),
    endedAt: integer(row, 'ended_at'),
    attempt: integer(row, 'attempts'),
  }
}

function toFailure(row: Row | undefined): DocumentFailure | undefined {
  const code = optionalText(row, 'error_code')
  return code === undefined ? undefined : { code, message: text(row, 'error_message') }
}

function toStatus(value: string): StoredDocument['status'] {
  const status = DOCUMENT_STATUSES.find((known) => known === value)
  if (status === undefined) throw new TypeError(`Unknown document status ${value}`)
  return status
}

/** A database row, keyed by column name. */
export type Row = Readonly<Record<string, unknown>>

/** The value of an integer column. Throws `TypeError` if there is no row or the value has another type. */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column]
  if (typeof value !== 'number') throw wrongType(column, 'an integer', value)
  return value
}

/** The value of a text column. Throws `TypeError` if there is no row or the value has another type. */
export function text(row: Row | undefined, column: string): string {
  const value = row?.[column]
  if (typeof value !== 'string') throw wrongType(column, 'text', value)
  return value
}

/** Like `text`, but NULL becomes `undefined`. */
export function optionalText(row: Row | undefined, column: string): string | undefined {
  return row?.[column] === null ? undefined : text(row, column)
}

/** The value of a bytes column. Throws `TypeError` if there is no row or the value has another type. */
export function bytes(row: Row | undefined, column: string): Uint8Array {
  const value = row?.[column]
  if (!(value instanceof Uint8Array)) throw wrongType(column, 'bytes', value)
  return value
}

/** Like `integer`, but NULL becomes `undefined`. */
export function optionalInteger(row: Row | undefined, column: string): number | undefined {
  return row?.[column] === null ? undefined : integer(row, column)
}

function wrongType(column: string, expected: string, value: unknown): TypeError {
  return new TypeError(`The column ${column} should hold ${expected}, not ${typeof value}`)
}
