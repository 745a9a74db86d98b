import type { Encryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { shownMetadata } from '@agent-server/lib/labels.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { within } from '@agent-server/schemas/collection.ts'
import type {
  ChunkList,
  ChunkListQuery,
  Document,
  DocumentCreated,
  DocumentList,
  DocumentSource,
  DocumentWarning,
  TextQuery,
} from '@agent-server/schemas/document.ts'
import {
  type DocumentLookup,
  type DocumentStore,
  documentNotFound,
  type ListQuery,
  type StoredChunk,
  type StoredDocument,
  type StoredFile,
  type StoredSource,
  type TextPart,
} from '@agent-server/stores'
import { withShownText } from '../../retrieval/shown-chunk.ts'
import type { VectorBacklog } from '../embedding/backlog.ts'

/** Selects documents, their order and how many to return. */
export interface DocumentsQuery extends ListQuery {
  collection?: string | undefined
  /** Whether to count all matching documents too. */
  total?: boolean | undefined
}

export interface ReadDependencies {
  store: Pick<DocumentStore, 'get' | 'list' | 'countListed' | 'listChunks'>
  lookup: Pick<DocumentLookup, 'readPart'>
  /** Absent if search is by keywords only. */
  backlog?: Pick<VectorBacklog, 'missingOf' | 'refusedOf' | 'progress'> | undefined
  /** Absent if pictures are not described. */
  pictures?: { picturesOf(id: string): Promise<Document['pictures']> } | undefined
  /** Seals the cursors of lists. */
  cursors: Encryption
}

/** What clients read of documents. */
export function createDocumentReads(dependencies: ReadDependencies) {
  const { store, pictures } = dependencies
  const cursors = sealedCursors(dependencies.cursors)
  const embeddings = createEmbeddingNotes(dependencies.backlog)
  const text: ReadText = (...reading) => readText(dependencies, ...reading)

  const find = async (visibility: Visibility, id: string): Promise<Document | undefined> => {
    const document = await store.get(visibility, id)
    if (!document) return undefined
    const described = await pictures?.picturesOf(id)
    const shown = toDocument(document)
    const warnings = [...(shown.warnings ?? []), ...(await embeddings.warnings(id))]
    return {
      ...shown,
      ...(warnings.length > 0 && { warnings }),
      ...(await embeddings.progress(id)),
      ...(described && { pictures: described }),
    }
  }

  return {
    embeddingProgress: embeddings.progress,
    find,
    /** The served text, or the part at a hit's offsets. Throws `document_not_found`, and `document_not_ready` if there is no text yet. */
    text,
    /** Like `text`, but a long text is read in parts. */
    openText: (visibility: Visibility, id: string, range: TextQuery, signal: AbortSignal) =>
      openText(text, visibility, id, range, signal),

    /** Throws `document_not_found`. */
    async get(visibility: Visibility, id: string): Promise<Document> {
      const document = await find(visibility, id)
      if (!document) throw documentNotFound(id)
      return document
    },

    async list(
      visibility: Visibility,
      { total, collection, cursor, ...page }: DocumentsQuery,
      signal?: AbortSignal,
    ): Promise<DocumentList> {
      const filter = within({ filter: page.filter, collection })
      const query = { ...page, filter, cursor: await cursors.open(cursor) }
      const { documents, nextCursor } = await store.list(visibility, query, signal)
      return {
        documents: documents.map(toDocument),
        ...(await cursors.next(nextCursor)),
        ...(total && { total: await store.countListed(visibility, query, signal) }),
      }
    },

    /** Throws `document_not_found`. */
    async chunks(
      visibility: Visibility,
      id: string,
      { cursor, ...page }: ChunkListQuery,
    ): Promise<ChunkList> {
      const place = { documentId: id, ...page, cursor: await cursors.open(cursor) }
      const found = await store.listChunks(visibility, place)
      if (!found) throw documentNotFound(id)
      const { chunks, nextCursor } = found
      return { chunks: chunks.map(toChunk), ...(await cursors.next(nextCursor)) }
    },
  }
}

/** What a document lacks of its vectors. */
function createEmbeddingNotes(backlog: ReadDependencies['backlog']) {
  return {
    async progress(id: string): Promise<Pick<Document, 'embeddings'>> {
      if (!backlog) return {}
      const missing = await backlog.missingOf(id)
      const { seconds } = backlog.progress()
      return { embeddings: { missing, ...(missing > 0 && seconds !== undefined && { seconds }) } }
    },
    async warnings(id: string): Promise<DocumentWarning[]> {
      const refused = await backlog?.refusedOf(id)
      if (!refused) return []
      const passages = refused === 1 ? 'A passage is' : `${refused} passages are`
      const message = `${passages} found by words alone, because the embedding model cannot read such text`
      return [{ code: 'not_embedded', message }]
    },
  }
}

/** A place in a list counts all rows, so that it would tell a reader how many they may not see. */
function sealedCursors(encryption: Encryption) {
  return {
    next: async (cursor: string | undefined) =>
      cursor === undefined ? {} : { nextCursor: await encryption.seal([cursor]) },
    async open(sealed: string | undefined): Promise<string | undefined> {
      if (sealed === undefined) return undefined
      const [cursor]: unknown[] = [await encryption.open(sealed)].flat()
      // What was not sealed here is refused by the list as any other text.
      return typeof cursor === 'string' ? cursor : ''
    },
  }
}

async function getExisting(
  store: Pick<DocumentStore, 'get'>,
  visibility: Visibility,
  id: string,
): Promise<StoredDocument> {
  const document = await store.get(visibility, id)
  if (!document) throw documentNotFound(id)
  return document
}

/** In UTF-16 code units. Longer texts are read in parts, once to count their bytes and once to send them. */
const MAX_HELD_CHARACTERS = 1_048_576

interface DocumentText extends Pick<StoredDocument, 'title' | 'url'>, TextPart {
  revision: number
}

type ReadText = (
  visibility: Visibility,
  id: string,
  range: TextQuery,
  signal: AbortSignal,
) => Promise<DocumentText>

async function readText(
  { store, lookup }: Pick<ReadDependencies, 'store' | 'lookup'>,
  ...[visibility, id, { start = 0, end }, signal]: Parameters<ReadText>
): Promise<DocumentText> {
  for (;;) {
    const {
      servedRevision: revision,
      status,
      ...document
    } = await getExisting(store, visibility, id)
    if (revision === undefined) {
      const message = `The document "${id}" cannot be read: it is ${status} and has no text yet`
      throw new AppError('document_not_ready', message, { param: 'id' })
    }
    const part = await lookup.readPart(visibility, { documentId: id, start, end }, signal)
    const after = await store.get(visibility, id)
    // Replaced in the meantime: it is unclear which of the two texts this is, so read again.
    if (part && after?.servedRevision === revision) return { ...document, revision, ...part }
  }
}

/** A text whose size is known before it is read. */
interface OpenText {
  revision: number
  /** In bytes of UTF-8. */
  size: number
  /** Its bytes from `first` up to `end`. Throws the reason of `signal`, and an Error if the document is replaced. */
  read(first: number, end: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** The served text, or a part of it. Throws like `text`. Long text stored only as chunks is read in parts. */
export async function openText(
  readText: ReadText,
  visibility: Visibility,
  id: string,
  { start = 0, end = Number.POSITIVE_INFINITY }: TextQuery,
  signal: AbortSignal,
): Promise<OpenText> {
  const text = (range: TextQuery) => readText(visibility, id, range, signal)
  for (;;) {
    const firstRange = { start, end: Math.min(end, start + MAX_HELD_CHARACTERS) }
    const first = await text(firstRange)
    const { revision, length } = first
    const range = { start, end: Math.min(end, length) }
    if (range.end <= firstRange.end) return inOne(first)
    if (first.isWhole) return inOne(await text(range))
    const parts = () => readParts(text, id, revision, range)
    try {
      let size = 0
      for await (const part of parts()) size += part.length
      return { revision, size, read: (from, to) => bytesBetween(parts(), from, to) }
    } catch (error) {
      // Nothing has been sent yet, so the new revision is read.
      if (!(error instanceof ReplacedError)) throw error
    }
  }
}

class ReplacedError extends Error {}

function inOne({ revision, text }: DocumentText): OpenText {
  const bytes = Buffer.from(text)
  return { revision, size: bytes.length, read: (from, to) => [bytes.subarray(from, to)] }
}

async function* readParts(
  text: (range: TextQuery) => Promise<DocumentText>,
  id: string,
  revision: number,
  range: { start: number; end: number },
): AsyncGenerator<Buffer> {
  for (let { start, end } = range; start < end; ) {
    const part = await text({ start, end: Math.min(end, start + MAX_HELD_CHARACTERS) })
    if (part.revision !== revision) {
      throw new ReplacedError(`${id} was replaced while its text was read`)
    }
    // A character of two units is left to the next part.
    const isDivided = start + part.text.length < end && /[\ud800-\udbff]$/.test(part.text)
    const read = isDivided ? part.text.slice(0, -1) : part.text
    yield Buffer.from(read)
    start += read.length
  }
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

const toFile = ({ name, mediaType, size, sha256 }: StoredFile) => ({
  name,
  mediaType,
  size,
  ...(sha256 !== undefined && { sha256 }),
})

export function toCreated({ id, status, error }: StoredDocument): DocumentCreated {
  return { id, status, ...(error && { error }) }
}

function toChunk(chunk: StoredChunk) {
  const { id, text, heading, start, end, page, pageEnd, pictureDescription } = withShownText(chunk)
  return {
    id,
    text,
    ...(pictureDescription && { pictureDescription }),
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
  const { title, url, file, source, error, servedRevision, chunkCount, ...others } = stored
  const { collection: _, conversation, access, creator, ...plain } = others
  const metadata = shownMetadata(stored)
  return {
    ...plain,
    ...(title !== undefined && { title }),
    ...(url !== undefined && { url }),
    ...(metadata && { metadata }),
    ...(conversation !== undefined && { conversation }),
    ...(access && { access: [...access] }),
    ...(creator !== undefined && { creator }),
    ...(file && { file: toFile(file) }),
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
