import type { TermBatch } from '../../indexes/term-batch.ts'
import { freeAllMemory } from '../../lib/free-young-memory.ts'
import { type ChunkParcel, packParcel } from '../../stores/chunk-parcel.ts'
import type { Embedding } from '../embedding/create-embedding.ts'
import { withoutText } from './create-preparer.ts'
import { numberPages } from './number-pages.ts'
import type { OpenSource } from './open-source.ts'
import type { Passage, Preparer } from './prepare.ts'
import type { SplitContext } from './split/split-context.ts'
import { segmentsOf } from './text-segments.ts'
import { withTitle } from './with-title.ts'

/** What was made of so many segments, a few megabytes, may wait to be collected. */
const SEGMENTS_BETWEEN_COLLECTIONS = 8
/** Vectors come as text, which takes many times their room. */
const SEGMENTS_WITH_VECTORS = 1

export interface ParcelDependencies {
  preparer: Pick<Preparer, 'preparePiece'>
  embedding?: Pick<Embedding, 'documents'> | undefined
}

/** A parcel with what the index takes. */
export interface IndexedParcel extends ChunkParcel {
  terms: TermBatch
}

/** Of the parcels so far. */
export interface ParcelTally {
  /** Chunks. */
  count: number
  characters: number
}

interface Progress {
  title: string | undefined
  source: OpenSource
  tally: ParcelTally
  context: SplitContext | undefined
}

/**
 * Splits and embeds a text segment by segment, answering the packed parcel of each and keeping `tally`. Throws
 * what preparing and embedding throw, and AppError `invalid_request` in the end where there was no text.
 */
export async function* parcelsOf(
  dependencies: ParcelDependencies,
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
    const { done, parcel } = await prepareNext(dependencies, segments, progress, signal)
    if (done) break
    if (parcel) yield parcel
  }
  if (tally.count === 0) throw withoutText()
}

async function prepareNext(
  { preparer, embedding }: ParcelDependencies,
  segments: Iterator<string>,
  progress: Progress,
  signal: AbortSignal,
): Promise<{ done: boolean; parcel?: Buffer }> {
  const { value: text, done } = segments.next()
  if (done) return { done }
  const { title, source, tally, context } = progress
  const prepared = await preparer.preparePiece({ title, text, context }, signal)
  const moved = prepared.passages.map((passage) => movedBy(passage, tally.characters))
  const chunks = numberPages(moved, source.pageStarts)
  progress.context = prepared.context
  tally.characters += text.length
  tally.count += chunks.length
  if (chunks.length === 0) return { done: false }
  const vectors = await embedding?.documents(withTitle(title, chunks), signal)
  const parcel = packParcel<IndexedParcel>({ chunks, vectors, terms: prepared.terms })
  return { done: false, parcel }
}

function movedBy(passage: Passage, offset: number): Passage {
  return { ...passage, start: passage.start + offset, end: passage.end + offset }
}
