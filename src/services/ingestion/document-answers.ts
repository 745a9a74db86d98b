import { randomUUIDv7 } from 'node:crypto'
import type { Document, DocumentCreated } from '../../schemas/document.ts'
import type { StoredChunk, StoredDocument } from '../../stores/document-store.ts'

/** Identifiers sort by time, which keeps inserts into the store's index local. */
export function newDocumentId(): string {
  return `doc_${randomUUIDv7().replaceAll('-', '')}`
}

export function toCreated({ id, status, error }: StoredDocument): DocumentCreated {
  return { id, status, ...(error && { error }) }
}

export function toChunk({ id, text, heading, start, end, page, pageEnd }: StoredChunk) {
  return {
    id,
    text,
    ...(heading !== '' && { heading }),
    start,
    end,
    ...(page !== undefined && { page, pageEnd }),
  }
}

export function toDocument(stored: StoredDocument): Document {
  const { id, title, url, metadata, file, status, error, attempts, chunkCount, characters } = stored
  const { revision, servedRevision } = stored
  return {
    id,
    ...(title !== undefined && { title }),
    ...(url !== undefined && { url }),
    ...(metadata && { metadata }),
    ...(file && { file }),
    status,
    ...(error && { error }),
    attempts,
    revision,
    ...(servedRevision !== undefined && { servedRevision }),
    chunks: chunkCount,
    characters,
    createdAt: new Date(stored.createdAt).toISOString(),
    updatedAt: new Date(stored.updatedAt).toISOString(),
  }
}
