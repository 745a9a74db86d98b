import { AppError } from '../../errors.ts'
import type {
  ChunkList,
  ChunkListQuery,
  Document,
  DocumentCreated,
  DocumentList,
  DocumentSource,
  TextQuery,
} from '../../schemas/document.ts'
import { within } from '../../schemas/metadata.ts'
import { textOfChunks } from '../../stores/chunk-codec.ts'
import {
  type DocumentStore,
  documentNotFound,
  type ListQuery,
  type StoredChunk,
  type StoredDocument,
} from '../../stores/document-store.ts'
import { chunkPages, type DocumentLookup, type TextPart } from '../../stores/lookup.ts'
import type { StoredSource } from '../../stores/source-store.ts'
import type { VectorBacklog } from '../embedding/backlog.ts'

/** Selects documents, their order and how many to return. */
export interface DocumentsQuery extends ListQuery {
  collection?: string | undefined
  /** Whether to count all matching documents too. */
  total?: boolean | undefined
}

export interface DocumentReads {
  /** Throws `document_not_found`. */
  get(id: string): Promise<Document>
  list(query: DocumentsQuery, signal?: AbortSignal): Promise<DocumentList>
  /** Throws `document_not_found`. */
  chunks(id: string, page: ChunkListQuery): Promise<ChunkList>
  /** The served text, or the part at a hit's offsets. Throws `document_not_found`, also if there is no text yet. */
  text(id: string, range: TextQuery, signal: AbortSignal): Promise<DocumentText>
  /** Like `text`, but a long text is read in parts. */
  openText(id: string, range: TextQuery, signal: AbortSignal): Promise<OpenText>
}

export interface ReadDependencies {
  store: Pick<DocumentStore, 'get' | 'list' | 'countListed' | 'listChunks'>
  lookup: Pick<DocumentLookup, 'readPart'>
  /** Absent if search is by keywords only. */
  backlog?: Pick<VectorBacklog, 'missingOf' | 'progress'> | undefined
}

/** What clients read of documents. */
export function createDocumentReads({ store, lookup, backlog }: ReadDependencies): DocumentReads & {
  embeddingProgress(id: string): Promise<Pick<Document, 'meaning'>>
} {
  const embeddingProgress = async (id: string): Promise<Pick<Document, 'meaning'>> => {
    if (!backlog) return {}
    const missing = await backlog.missingOf(id)
    const { seconds } = backlog.progress()
    return { meaning: { missing, ...(missing > 0 && seconds !== undefined && { seconds }) } }
  }

  const text: DocumentReads['text'] = async (id, { start = 0, end }, signal) => {
    for (;;) {
      const { servedRevision: revision, status, ...document } = await found(store, id)
      if (revision === undefined) {
        const message = `The document "${id}" cannot be read: it is ${status}, and has no text yet`
        throw new AppError('document_not_found', message, { param: 'id' })
      }
      const part = await lookup.readPart({ documentId: id, start, end }, signal)
      const after = await store.get(id)
      // Replaced in the meantime: it is unclear which of the two texts this is, so read again.
      if (part && after?.servedRevision === revision) {
        return { ...document, revision, ...part }
      }
    }
  }

  return {
    embeddingProgress,
    text,
    openText: (id, range, signal) => openText({ store, text }, id, range, signal),

    async get(id) {
      return { ...toDocument(await found(store, id)), ...(await embeddingProgress(id)) }
    },

    async list({ total, collection, ...page }, signal) {
      const query = { ...page, filter: within({ filter: page.filter, collection }) }
      const { documents, nextCursor } = await store.list(query, signal)
      return {
        documents: documents.map(toDocument),
        ...(nextCursor && { nextCursor }),
        ...(total && { total: await store.countListed(query, signal) }),
      }
    },

    async chunks(id, page) {
      const found = await store.listChunks({ documentId: id, ...page })
      if (!found) throw documentNotFound(id)
      const { chunks, nextCursor } = found
      return { chunks: chunks.map(toChunk), ...(nextCursor && { nextCursor }) }
    },
  }
}

async function found(store: Pick<DocumentStore, 'get'>, id: string): Promise<StoredDocument> {
  const document = await store.get(id)
  if (!document) throw documentNotFound(id)
  return document
}

/** In UTF-16 code units. Longer texts are read in parts, once to count their bytes and once to send them. */
const MAX_HELD_CHARACTERS = 1_048_576

export interface DocumentText extends Pick<StoredDocument, 'title' | 'url'>, TextPart {
  revision: number
}

/** A text whose size is known before it is read. */
export interface OpenText {
  revision: number
  /** In bytes of UTF-8. */
  size: number
  /** Its bytes from `first` up to `end`. Throws the reason of `signal`, and an Error if the document is replaced. */
  read(first: number, end: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

interface TextDependencies extends Pick<DocumentReads, 'text'> {
  store: Pick<DocumentStore, 'get' | 'listChunks'>
}

/** The served text, or a part of it. Throws `document_not_found`. Long text stored only as chunks is read in parts. */
export async function openText(
  { store, text }: TextDependencies,
  id: string,
  { start = 0, end }: TextQuery,
  signal: AbortSignal,
): Promise<OpenText> {
  for (;;) {
    const held = Math.min(end ?? Number.POSITIVE_INFINITY, start + MAX_HELD_CHARACTERS)
    const first = await text(id, { start, end: held }, signal)
    const { revision, length } = first
    const range = { start, end: Math.min(end ?? length, length) }
    if (range.end <= held) return inOne(first)
    if (first.isWhole) return inOne(await text(id, range, signal))
    const pieces = () => readPieces(store, { id, revision }, range, signal)
    const size = await sizeOf(pieces()).catch((error: unknown) => error)
    if (typeof size === 'number') {
      return { revision, size, read: (from, to) => bytesBetween(pieces(), from, to) }
    }
    const after = await store.get(id)
    if (after?.servedRevision === revision) throw size
  }
}

function inOne({ revision, text }: DocumentText): OpenText {
  const bytes = Buffer.from(text)
  return { revision, size: bytes.length, read: (from, to) => [bytes.subarray(from, to)] }
}

/** Reads a long text, which is stored only as its chunks. */
async function* readPieces(
  store: Pick<DocumentStore, 'listChunks'>,
  { id, revision }: { id: string; revision: number },
  { start, end }: { start: number; end: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const replaced = () => new Error(`${id} was replaced while its text was read`)
  let at = start
  for await (const page of chunkPages(store, id)) {
    signal.throwIfAborted()
    const last = page.chunks.at(-1)
    if (!last?.id.startsWith(`${id}-${revision}-`)) throw replaced()
    const chunks = page.chunks.filter((chunk) => chunk.end > at && chunk.start < end)
    const reached = Math.max(at, Math.min(end, page.nextCursor ? last.end : end))
    const text = textOfChunks(chunks, at).slice(0, reached - at)
    if (reached > at) yield Buffer.from(text.padEnd(reached - at, '\n'))
    at = reached
    if (at >= end) return
  }
  throw replaced()
}

async function sizeOf(pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  for await (const piece of pieces) size += piece.length
  return size
}

/** The bytes from `first` up to `end`, exclusive. */
async function* bytesBetween(
  pieces: AsyncIterable<Uint8Array>,
  first: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const piece of pieces) {
    const part = piece.subarray(Math.max(0, first - at), Math.max(0, end - at))
    if (part.length > 0) yield part
    at += piece.length
    if (at >= end) return
  }
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
