import { createBudget } from '@agent-server/lib/budget.ts'
import { toStorable } from '@agent-server/lib/fields.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { lowerBound } from '@agent-server/lib/lower-bound.ts'
import { freeAllMemory } from '@agent-server/lib/processes/free-memory.ts'
import { MAX_WHOLE_CHARACTERS, segmentsOf } from '@agent-server/lib/text/segments.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { ExtractionError, type Extractor, type ReadText } from '@agent-server/readers'
import type { TermBatch } from '@agent-server/search'
import {
  type ChunkBatch,
  DamagedFile,
  type DocumentStore,
  type IngestionJob,
} from '@agent-server/stores'
import type { Preparer } from './preparer.ts'
import type { SplitChunk } from './split/pack-units.ts'
import type { SplitContext } from './split/split-text.ts'

/**
 * Text read from files and not yet published, in UTF-16 code units; files already being read may exceed it. Of a long
 * text, only a piece is in this process, but the process that read it is held.
 */
const MAX_EXTRACTED = 10_000_000

/** The text of a claimed document. */
export interface Source extends Pick<ReadText, 'length' | 'pieces' | 'close'> {
  /** The offsets in the text at which the pages of its file begin, if it has pages. */
  pageStarts: readonly number[] | undefined
}

export type OpenSource = (job: IngestionJob, signal: AbortSignal) => Promise<Source>

interface Dependencies {
  store: Pick<DocumentStore, 'readFile' | 'noteFile'>
  extractor: Pick<Extractor, 'extract'>
}

/** Opens the text that was sent with a document, or extracts it from its file. Throws `ExtractionError`. */
export function createSources({ store, extractor }: Dependencies): OpenSource {
  const budget = createBudget(MAX_EXTRACTED)

  return async (job, signal) => {
    const { documentId, revision, text, file, sender: owner } = job
    if (!file) {
      const pieces = text.length <= MAX_WHOLE_CHARACTERS ? [text] : segmentsOf(text)
      return { length: text.length, pieces, pageStarts: undefined, close: () => undefined }
    }
    await budget.room(signal)
    const open = async () => {
      const bytes = await store.readFile(everything(), documentId, revision)
      if (!bytes) throw new ExtractionError('damaged_file', 'The file no longer exists')
      return undamaged(bytes)
    }
    const notes = createNotes(store, job)
    const extraction = await extractor.extract(file, { open, owner, onPage: notes.onPage }, signal)
    // A long text takes half of all, however long, since its process is held.
    const isLong = extraction.length > MAX_WHOLE_CHARACTERS
    const release = budget.hold(isLong ? MAX_EXTRACTED / 2 : extraction.length)
    const close = () => {
      extraction.close()
      release()
    }
    try {
      await notes.end(extraction)
    } catch (error) {
      close()
      throw error
    }
    const { length, pieces, pageStarts } = extraction
    return { length, pieces: storable(pieces), pageStarts, close }
  }
}

/** Replaces one code unit by one, so page offsets stay correct. */
async function* storable(pieces: Source['pieces']): AsyncGenerator<string> {
  for await (const piece of pieces) yield toStorable(piece)
}

/** Progress is stored at most this often; a page takes about a second. */
const NOTE_MS = 1_000

/** Stores with the document how far reading has progressed and, at the end, what could not be read. */
function createNotes({ noteFile }: Pick<DocumentStore, 'noteFile'>, job: IngestionJob) {
  let notedAt: number | undefined
  let noting: Promise<unknown> = Promise.resolve()

  return {
    onPage(page: number): void {
      if (notedAt !== undefined && performance.now() - notedAt < NOTE_MS) return
      notedAt = performance.now()
      noting = ignore(noteFile(job, { page }), 'a store that does not answer is noticed at the end')
    },
    async end({ warnings, tables }: Pick<ReadText, 'warnings' | 'tables'>): Promise<void> {
      await noting
      const notes = { ...(tables && { tables }), ...(warnings.length > 0 && { warnings }) }
      const isNothing = Object.keys(notes).length === 0
      if (isNothing && notedAt === undefined && !job.file?.notes) return
      await noteFile(job, notes)
    },
  }
}

/** A chunk before it has a key; `start` and `end` are offsets into the document's text. */
interface PreparedChunk extends SplitChunk {
  /** The page on which it begins, from 1, if the file has pages. */
  page?: number | undefined
  pageEnd?: number | undefined
}

/** A piece of a document's text with its chunks, of which there is at least one. */
export interface Segment extends ChunkBatch {
  text: string
  chunks: PreparedChunk[]
  /** One entry per chunk, in order. */
  terms: TermBatch
}

/** Garbage is collected after this many segments, which leave a few megabytes of it. */
const SEGMENTS_BETWEEN_COLLECTIONS = 8

/**
 * Splits and analyses a text segment by segment, each one on demand. Throws what preparing throws and, at the end,
 * `ExtractionError` if there was no text.
 */
export async function* preparedSegments(
  preparer: Pick<Preparer, 'prepare'>,
  title: string | undefined,
  source: Source,
  signal: AbortSignal,
): AsyncGenerator<Segment> {
  let context: SplitContext | undefined
  let characters = 0
  let isEmpty = true

  const prepareNext = async (text: string): Promise<Segment> => {
    const prepared = await preparer.prepare({ title, text, context }, signal)
    const shifted = prepared.chunks.map((chunk) => ({
      ...chunk,
      start: chunk.start + characters,
      end: chunk.end + characters,
    }))
    const chunks = numberPages(shifted, source.pageStarts)
    context = prepared.context
    characters += text.length
    return { text, chunks, terms: prepared.terms }
  }

  let number = 0
  for await (const text of source.pieces) {
    signal.throwIfAborted()
    if (++number % SEGMENTS_BETWEEN_COLLECTIONS === 0) freeAllMemory()
    const segment = await prepareNext(text)
    if (segment.chunks.length === 0) continue
    isEmpty = false
    yield segment
  }
  if (isEmpty) throw new ExtractionError('empty_document', 'The document contains no text to index')
}

/** Adds to each chunk the pages on which it stands, given where each page begins in the text. */
export function numberPages(
  chunks: readonly SplitChunk[],
  pageStarts: readonly number[] | undefined,
): PreparedChunk[] {
  if (!pageStarts) return [...chunks]
  return chunks.map((chunk) => ({
    ...chunk,
    page: pageAt(pageStarts, chunk.start),
    pageEnd: pageAt(pageStarts, Math.max(chunk.start, chunk.end - 1)),
  }))
}

/** The last page that begins at or before the offset; an empty page begins where the next one does. */
function pageAt(starts: readonly number[], offset: number): number {
  return lowerBound(starts, offset + 1, 0, starts.length)
}

/** Another attempt would read a damaged file again, for ever. */
async function* undamaged(pieces: AsyncIterable<Uint8Array>) {
  try {
    yield* pieces
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error
    throw new ExtractionError('damaged_file', error.message, error)
  }
}
