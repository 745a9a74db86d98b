import type { TextQuery } from '../../schemas/document.ts'
import { textOfChunks } from '../../stores/chunk-codec.ts'
import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'
import type { TextPart } from '../../stores/lookup.ts'

/** UTF-16 code units: up to here a text is held; a longer one is read in parts, once to count its bytes and once to send them. */
const MAX_HELD = 1_048_576
const CHUNKS_PER_READ = 500

export interface DocumentText extends Pick<StoredDocument, 'title' | 'url'>, TextPart {
  revision: number
}

/** A text whose length is known before it is read. */
export interface OpenText {
  revision: number
  /** In bytes of UTF-8. */
  size: number
  /** Those of its bytes, in pieces; throws what `signal` was aborted with, and where the document is replaced meanwhile. */
  read(first: number, end: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

interface Dependencies {
  store: Pick<DocumentStore, 'get' | 'listChunks'>
  text(id: string, range: TextQuery, signal: AbortSignal): Promise<DocumentText>
}

/** The text that is served, or a part of it; of a long one, unless it is kept in one piece, no more than a part is held. Throws `document_not_found`. */
export async function openText(
  { store, text }: Dependencies,
  id: string,
  { start = 0, end }: TextQuery,
  signal: AbortSignal,
): Promise<OpenText> {
  for (;;) {
    const held = Math.min(end ?? Number.POSITIVE_INFINITY, start + MAX_HELD)
    const first = await text(id, { start, end: held }, signal)
    const { revision, length } = first
    const range = { start, end: Math.min(end ?? length, length) }
    if (range.end <= held) return inOne(first)
    if (first.isWhole) return inOne(await text(id, range, signal))
    const pieces = () => readPieces(store, { id, revision }, range, signal)
    const size = await sizeOf(pieces()).catch((error: unknown) => error)
    if (typeof size === 'number') {
      return { revision, size, read: (from, to) => within(pieces(), from, to) }
    }
    const after = await store.get(id)
    if (after?.servedRevision === revision) throw size
  }
}

function inOne({ revision, text }: DocumentText): OpenText {
  const bytes = Buffer.from(text)
  return { revision, size: bytes.length, read: (from, to) => [bytes.subarray(from, to)] }
}

/** A long text, of which there are the chunks alone. */
async function* readPieces(
  store: Dependencies['store'],
  { id, revision }: { id: string; revision: number },
  { start, end }: { start: number; end: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const asked = { documentId: id, limit: CHUNKS_PER_READ }
  let at = start
  let cursor: string | undefined
  do {
    signal.throwIfAborted()
    const page = await store.listChunks({ ...asked, cursor })
    const last = page?.chunks.at(-1)
    if (!page || !last?.id.startsWith(`${id}-${revision}-`)) {
      throw new Error(`${id} was replaced while its text was read`)
    }
    const chunks = page.chunks.filter((chunk) => chunk.end > at && chunk.start < end)
    const reached = Math.max(at, Math.min(end, page.nextCursor ? last.end : end))
    const text = textOfChunks(chunks, at).slice(0, reached - at)
    if (reached > at) yield Buffer.from(text.padEnd(reached - at, '\n'))
    at = reached
    cursor = page.nextCursor
  } while (cursor !== undefined && at < end)
}

async function sizeOf(pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  for await (const piece of pieces) size += piece.length
  return size
}

/** The bytes from `first` to `end`, which is not one of them. */
async function* within(
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
