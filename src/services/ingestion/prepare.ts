import type { Analyser } from '../../indexes/analyser/analyser.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { freeAllMemory } from '../../lib/free-young-memory.ts'
import type { Fence } from '../../lib/markdown/lines.ts'
import { type ChunkBatch, packChunkBatch } from '../../stores/chunk-codec.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { EmbeddedText, Embedding } from '../embedding/embedding.ts'
import { withoutText } from './retry-policy.ts'
import type { HeadingStep } from './split/heading-path.ts'
import type { OpenSource } from './uploads.ts'

/** What splitting and analysing need to know of a document. */
export interface Source {
  title: string | undefined
  text: string
  /** Where the text is the next piece of a longer one: how the piece before it ended. */
  context?: SplitContext | undefined
}

/** A chunk before it has a key; `start` and `end` are offsets into the source text, in UTF-16 code units. */
export interface PreparedChunk {
  text: string
  heading: string
  start: number
  end: number
  /** Where it stands in a file that has pages, from 1. */
  page?: number | undefined
  pageEnd?: number | undefined
}

export interface Prepared {
  chunks: PreparedChunk[]
  /** One entry per chunk, in order. */
  terms: TermBatch
}

/** A piece of a long text; it has no chunks where it holds nothing but blanks. */
export interface PreparedPiece extends Prepared {
  /** For the next piece. */
  context: SplitContext
}

/** The processor-hungry half of ingestion, kept off the event loop. */
export interface Preparer {
  /** Throws AppError `invalid_request` where the text holds nothing to index; any other error is the document's too. */
  prepare(source: Source, signal?: AbortSignal): Promise<Prepared>
  /** As `prepare`, of a piece of a long text; offsets are those into the piece. */
  preparePiece(source: Source, signal?: AbortSignal): Promise<PreparedPiece>
  /** Analyses chunks that exist already, to rebuild an index. */
  analyse(chunks: readonly IndexedText[]): Promise<TermBatch>
  close(): Promise<void>
}

/** The fields of a chunk that search looks at. */
export interface IndexedText {
  title: string | undefined
  heading: string
  text: string
}

/** As much of a long text as is split, embedded and kept at a time, in UTF-16 code units. */
const SEGMENT_CHARACTERS = 131_072
/** A segment rather ends this much earlier than within a paragraph or a line. */
const SLACK_SHARE = 1 / 16

/** A text in pieces of at most `most`, each ending at a paragraph, a line or a word where there is one near. */
export function* segmentsOf(
  pieces: Iterable<string>,
  most = SEGMENT_CHARACTERS,
): Generator<string> {
  let rest = ''
  for (const piece of pieces) {
    rest += piece
    while (rest.length > most) {
      const end = endOfSegment(rest, most)
      yield rest.slice(0, end)
      rest = withoutParent(rest.slice(end), most)
    }
  }
  if (rest !== '') yield rest
}

/** What is left of a segment, as a string of its own: a slice would keep all of what it was cut from. */
function withoutParent(slice: string, most: number): string {
  return slice.length < most ? Buffer.from(slice, 'utf16le').toString('utf16le') : slice
}

function endOfSegment(text: string, most: number): number {
  const least = most - Math.floor(most * SLACK_SHARE)
  for (const mark of ['\n\n', '\n', ' ']) {
    const found = text.lastIndexOf(mark, most - mark.length)
    if (found >= least) return found + mark.length
  }
  return isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** What was made of so many segments, a few megabytes, may wait to be collected. */
const SEGMENTS_BETWEEN_COLLECTIONS = 8
/** Vectors come as text, which takes many times their room. */
const SEGMENTS_WITH_VECTORS = 1

export interface ChunkBatchDependencies {
  preparer: Pick<Preparer, 'preparePiece'>
  embedding?: Pick<Embedding, 'documents'> | undefined
}

/** A chunk batch with what the index takes. */
export interface IndexedChunkBatch extends ChunkBatch {
  terms: TermBatch
}

/** Of the chunk batches so far. */
export interface ChunkTally {
  /** Chunks. */
  count: number
  characters: number
}

interface Progress {
  title: string | undefined
  source: OpenSource
  tally: ChunkTally
  context: SplitContext | undefined
}

/**
 * Splits and embeds a text segment by segment, answering the packed chunk batch of each and keeping `tally`. Throws
 * what preparing and embedding throw, and AppError `invalid_request` in the end where there was no text.
 */
export async function* chunkBatchesOf(
  dependencies: ChunkBatchDependencies,
  { title, source, tally }: Omit<Progress, 'context'>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const progress: Progress = { title, source, tally, context: undefined }
  const segments = segmentsOf(source.pieces())
  const between = dependencies.embedding ? SEGMENTS_WITH_VECTORS : SEGMENTS_BETWEEN_COLLECTIONS
  for (let number = 0; ; number++) {
    // Nothing of the text is held on to here, so that it can be freed.
    if (number % between === 0) freeAllMemory()
    signal.throwIfAborted()
    const { done, batch } = await prepareNext(dependencies, segments, progress, signal)
    if (done) break
    if (batch) yield batch
  }
  if (tally.count === 0) throw withoutText()
}

async function prepareNext(
  { preparer, embedding }: ChunkBatchDependencies,
  segments: Iterator<string>,
  progress: Progress,
  signal: AbortSignal,
): Promise<{ done: boolean; batch?: Buffer }> {
  const { value: text, done } = segments.next()
  if (done) return { done }
  const { title, source, tally, context } = progress
  const prepared = await preparer.preparePiece({ title, text, context }, signal)
  const moved = prepared.chunks.map((chunk) => movedBy(chunk, tally.characters))
  const chunks = numberPages(moved, source.pageStarts)
  progress.context = prepared.context
  tally.characters += text.length
  tally.count += chunks.length
  if (chunks.length === 0) return { done: false }
  const vectors = await embedding?.documents(withTitle(title, chunks), signal)
  const batch = packChunkBatch<IndexedChunkBatch>({ chunks, vectors, terms: prepared.terms })
  return { done: false, batch }
}

function movedBy(chunk: PreparedChunk, offset: number): PreparedChunk {
  return { ...chunk, start: chunk.start + offset, end: chunk.end + offset }
}

/** Tells each chunk on which pages it stands, given where each page begins in the text. */
export function numberPages(
  chunks: readonly PreparedChunk[],
  pageStarts: readonly number[] | undefined,
): PreparedChunk[] {
  if (!pageStarts) return [...chunks]
  return chunks.map((chunk) => {
    const page = pageAt(pageStarts, chunk.start)
    return {
      ...chunk,
      page,
      pageEnd: pageAt(pageStarts, Math.max(chunk.start, chunk.end - 1)),
    }
  })
}

/** The last page that begins at or before the offset; an empty page begins where the next one does. */
function pageAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low
}

/** Chunks as they are embedded. */
export function withTitle(
  title: string | undefined,
  chunks: readonly Pick<PreparedChunk, 'heading' | 'text'>[],
): EmbeddedText[] {
  return chunks.map(({ heading, text }) => ({ title, heading, text }))
}

/** Chunks that are looked at, spread evenly over all there are. */
const SAMPLE = 2_000
/** Chunks read at a time. */
const BATCH = 500
/** Taken where there are too few chunks to tell: the mean of 22,000 chunks of English documentation. */
const USUAL_LENGTH = 167
const FEWEST = 100

interface Dependencies {
  store: Pick<DocumentStore, 'chunkKeys' | 'readChunks'>
  analyser: Pick<Analyser, 'batch'>
}

/** About how many terms a chunk has: what an index that freezes its mean length begins with. */
export async function measureLength({ store, analyser }: Dependencies): Promise<number> {
  const keys = await store.chunkKeys()
  if (keys.length < FEWEST) return USUAL_LENGTH
  const step = Math.max(1, Math.floor(keys.length / SAMPLE))
  const sample = Array.from(keys).filter((_, place) => place % step === 0)
  let chunks = 0
  let terms = 0
  for (let from = 0; from < sample.length; from += BATCH) {
    const { lengths } = analyser.batch(await store.readChunks(sample.slice(from, from + BATCH)))
    chunks += lengths.length
    terms += lengths.reduce((sum, length) => sum + length, 0)
  }
  return chunks > 0 && terms > 0 ? terms / chunks : USUAL_LENGTH
}

/** Chunks without their texts, which both threads can cut from the source: buffers cross threads without copying. */
export interface PackedChunks {
  /** `start` and `end` of each chunk in turn. */
  bounds: Uint32Array<ArrayBuffer>
  /** Which of `headings` stands above each chunk. */
  headingOf: Uint32Array<ArrayBuffer>
  headings: readonly string[]
}

export function packChunks(chunks: readonly PreparedChunk[]): PackedChunks {
  const headings = new Map<string, number>()
  const bounds = new Uint32Array(chunks.length * 2)
  const headingOf = new Uint32Array(chunks.length)
  for (const [index, { start, end, heading }] of chunks.entries()) {
    const number = headings.get(heading) ?? headings.size
    headings.set(heading, number)
    bounds[index * 2] = start
    bounds[index * 2 + 1] = end
    headingOf[index] = number
  }
  return { bounds, headingOf, headings: [...headings.keys()] }
}

export function unpackChunks(text: string, packed: PackedChunks): PreparedChunk[] {
  const { bounds, headingOf, headings } = packed
  return Array.from(headingOf, (number, index) => {
    const start = bounds[index * 2] ?? 0
    const end = bounds[index * 2 + 1] ?? start
    return { text: text.slice(start, end), heading: headings[number] ?? '', start, end }
  })
}

/** Where a text stands that goes on: what the next piece of it begins below, and within. */
export interface SplitContext {
  headings: readonly HeadingStep[]
  /** Of a block of code that was not closed. */
  fence: Fence | undefined
}
