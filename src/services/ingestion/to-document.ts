import type { Document, DocumentCreated, DocumentSource } from '../../schemas/document.ts'
import type { StoredChunk, StoredDocument } from '../../stores/document-store.ts'
import type { StoredSource } from '../../stores/source-store.ts'

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

function toSource({ refresh, fetchedAt, status, error, dueAt }: StoredSource): DocumentSource {
  return {
    ...(refresh !== undefined && { refresh }),
    fetchedAt: new Date(fetchedAt).toISOString(),
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(dueAt !== undefined && { nextAt: new Date(dueAt).toISOString() }),
  }
}

export function toDocument(stored: StoredDocument): Document {
  const { title, url, metadata, file, source, error, servedRevision, chunkCount, ...plain } = stored
  return {
    ...plain,
    ...(title !== undefined && { title }),
    ...(url !== undefined && { url }),
    ...(metadata && { metadata }),
    ...(file && { file: { name: file.name, mediaType: file.mediaType, size: file.size } }),
    ...(source && { source: toSource(source) }),
    ...(file?.notes?.warnings && { warnings: [...file.notes.warnings] }),
    ...(file?.notes?.page !== undefined &&
      stored.status === 'processing' && { page: file.notes.page }),
    ...(error && { error }),
    ...(servedRevision !== undefined && { servedRevision }),
    chunks: chunkCount,
    createdAt: new Date(stored.createdAt).toISOString(),
    updatedAt: new Date(stored.updatedAt).toISOString(),
  }
}
