import type { TermBatch } from '../../indexes/term-batch.ts'
import { ignore } from '../../lib/ignore.ts'
import { lowerBound } from '../../lib/lower-bound.ts'
import { atCodePoint } from '../../lib/markdown/characters.ts'
import { freeAllMemory } from '../../lib/processes/free-memory.ts'
import { createBudget } from '../../lib/semaphore.ts'
import { toStorable } from '../../schemas/fields.ts'
import type { ChunkBatch } from '../../stores/chunk-codec.ts'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import { ExtractionError, MAX_CHARACTERS, type ReadText } from '../extraction/extracted.ts'
import type { Extractor } from '../extraction/extractor.ts'
import type { Preparer } from './preparer.ts'
import type { SplitChunk } from './split/pack-units.ts'
import type { SplitContext } from './split/split-text.ts'

/** Text read from files and not yet published, in UTF-16 code units; files already being read may exceed it. */
const MAX_EXTRACTED = MAX_CHARACTERS

/** The text of a claimed document. */
export interface Source {
  text: string
  /** The offsets in the text at which the pages of its file begin, if it has pages. */
  pageStarts: readonly number[] | undefined
  /** Call when the text is no longer needed. */
  close(): void
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
    const { documentId, revision, text, file } = job
    if (!file) return { text, pageStarts: undefined, close: () => undefined }
    await budget.room(signal)
    const open = async () => {
      const bytes = await store.readFile(documentId, revision)
      if (!bytes) throw new ExtractionError('damaged_file', 'The file no longer exists')
      return bytes
    }
    const notes = createNotes(store, job)
    const read = await extractor.extract(file, { open, onPage: notes.onPage }, signal)
    await notes.end(read)
    return {
      // Replaces one code unit by one, so page offsets stay correct.
      text: toStorable(read.text),
      pageStarts: read.pageStarts,
      close: budget.hold(read.text.length),
    }
  }
}

/** Progress is stored at most this often; a page takes about a second. */
const NOTE_MS = 1_000

/** Stores with the document how far reading has got and, at the end, what could not be read. */
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

/** A text of up to this many UTF-16 code units is a single segment. */
export const MAX_WHOLE_CHARACTERS = 524_288
/** A longer text is split and held in segments of this size. */
const SEGMENT_CHARACTERS = 131_072
/** A segment may end earlier by this share, to avoid cutting through a paragraph, line or word. */
const SLACK_SHARE = 1 / 16

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
  const isWhole = source.text.length <= MAX_WHOLE_CHARACTERS
  let context: SplitContext | undefined
  let characters = 0
  let isEmpty = true

  const prepareNext = async (text: string): Promise<Segment> => {
    const prepared = await preparer.prepare({ title, text, context }, signal)
    const moved = prepared.chunks.map((chunk) => ({
      ...chunk,
      start: chunk.start + characters,
      end: chunk.end + characters,
    }))
    const chunks = numberPages(moved, source.pageStarts)
    context = prepared.context
    characters += text.length
    return { text, chunks, terms: prepared.terms }
  }

  const texts = isWhole ? [source.text] : [...segmentsOf(source.text)]
  for (const [number, text] of texts.entries()) {
    signal.throwIfAborted()
    if (number % SEGMENTS_BETWEEN_COLLECTIONS === SEGMENTS_BETWEEN_COLLECTIONS - 1) freeAllMemory()
    const segment = await prepareNext(text)
    if (segment.chunks.length === 0) continue
    isEmpty = false
    yield segment
  }
  if (isEmpty) throw new ExtractionError('empty_document', 'The document contains no text to index')
}

/** Cuts a text into pieces of at most `maxLength`, each ending at a nearby paragraph, line or word if possible. */
export function* segmentsOf(text: string, maxLength = SEGMENT_CHARACTERS): Generator<string> {
  let start = 0
  while (text.length - start > maxLength) {
    const end = endOfSegment(text, start, maxLength)
    yield text.slice(start, end)
    start = end
  }
  if (start < text.length) yield text.slice(start)
}

function endOfSegment(text: string, start: number, maxLength: number): number {
  const latest = start + maxLength
  const earliest = latest - Math.floor(maxLength * SLACK_SHARE)
  for (const end of ['\n\n', '\n', ' ']) {
    const found = text.lastIndexOf(end, latest - end.length)
    if (found >= earliest) return found + end.length
  }
  return atCodePoint(text, latest)
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
