import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import { type ChunkParcel, createParcelReader, packParcel } from '../../stores/chunk-parcel.ts'
import type { DocumentStore, IngestionJob, KeptChunks } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/create-embedding.ts'
import { withoutText } from './create-preparer.ts'
import { numberPages } from './number-pages.ts'
import type { OpenSource } from './open-source.ts'
import type { Passage, Preparer } from './prepare.ts'
import { type Publisher, UnconfirmedError } from './publish-documents.ts'
import { IndexError } from './retry-policy.ts'
import type { SplitContext } from './split/split-context.ts'
import { segmentsOf } from './text-segments.ts'
import { withTitle } from './with-title.ts'

export type LongDocumentStore = Pick<
  DocumentStore,
  'keepFile' | 'readKept' | 'dropFile' | 'reserveChunkKeys' | 'completeKept'
>

interface Dependencies {
  store: LongDocumentStore
  index: Pick<ChunkIndex, 'add' | 'addVectors'>
  preparer: Pick<Preparer, 'preparePiece'>
  publisher: Pick<Publisher, 'forget'>
  embedding?: Pick<Embedding, 'documents'> | undefined
}

interface IndexedParcel extends ChunkParcel {
  terms: TermBatch
}

interface Progress {
  job: IngestionJob
  source: OpenSource
  /** Of the pieces so far. */
  tally: { count: number; characters: number; context: SplitContext | undefined }
}

/**
 * Makes a long document ready in pieces, so that it never is in memory whole: each piece is split, embedded
 * and laid on the disk. When all are there the index takes them in turn, and then the authority in one step.
 * Answers how many chunks, or nothing if the claim is no longer current. Throws as `Publisher.publish`, and
 * what preparing and embedding throw.
 */
export function createLongPublishing(dependencies: Dependencies) {
  const { store, index, preparer, publisher, embedding } = dependencies

  /** Nothing of the piece but its parcel is held on to. */
  const prepare = async (
    { job, source, tally }: Progress,
    text: string,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> => {
    const { title } = job
    const piece = { title, text, context: tally.context }
    const prepared = await preparer.preparePiece(piece, signal)
    const moved = prepared.passages.map((passage) => movedBy(passage, tally.characters))
    const chunks = numberPages(moved, source.pageStarts)
    tally.context = prepared.context
    tally.characters += text.length
    tally.count += chunks.length
    if (chunks.length === 0) return undefined
    const vectors = await embedding?.documents(withTitle(title, chunks), signal)
    return packParcel<IndexedParcel>({ chunks, vectors, terms: prepared.terms })
  }

  async function* parcelsOf(progress: Progress, signal: AbortSignal): AsyncGenerator<Buffer> {
    for (const text of segmentsOf(progress.source.pieces())) {
      signal.throwIfAborted()
      const parcel = await prepare(progress, text, signal)
      if (parcel) yield parcel
      freeYoungMemory()
    }
    if (progress.tally.count === 0) throw withoutText()
  }

  const addToIndex = async ({ file, firstKey }: KeptChunks) => {
    const reader = createParcelReader<IndexedParcel>()
    let next = firstKey
    for await (const piece of store.readKept(file)) {
      for (const { chunks, vectors, terms } of reader.push(piece)) {
        const keys = rangeOf(next, chunks.length)
        await index.add(keys, ownTerms(terms))
        if (vectors) await index.addVectors({ keys, ...vectors, values: vectors.values.slice() })
        next += chunks.length
      }
      freeYoungMemory()
    }
  }

  const publish = async (job: IngestionJob, kept: KeptChunks): Promise<boolean> => {
    const keys = Array.from(rangeOf(kept.firstKey, kept.count))
    try {
      await addToIndex(kept)
    } catch (cause) {
      await publisher.forget(keys)
      throw new IndexError('the index did not take the chunks', { cause })
    }
    const putOut = await store.completeKept(job, kept).catch((cause: unknown) => {
      throw new UnconfirmedError(keys, cause)
    })
    await publisher.forget(putOut ?? keys)
    return putOut !== undefined
  }

  return async (
    job: IngestionJob,
    source: OpenSource,
    signal: AbortSignal,
  ): Promise<{ chunks: number } | undefined> => {
    const tally: Progress['tally'] = { count: 0, characters: 0, context: undefined }
    const { number: file } = await store.keepFile(parcelsOf({ job, source, tally }, signal))
    let isReady = false
    try {
      const { count, characters } = tally
      const firstKey = await store.reserveChunkKeys(count)
      isReady = await untilAborted(publish(job, { file, firstKey, count, characters }), signal)
    } finally {
      // What cannot be dropped now is dropped by the next start.
      if (!isReady) await store.dropFile(file).catch(() => undefined)
    }
    return isReady ? { chunks: tally.count } : undefined
  }
}

function movedBy(passage: Passage, offset: number): Passage {
  return { ...passage, start: passage.start + offset, end: passage.end + offset }
}

function rangeOf(first: number, count: number): Uint32Array<ArrayBuffer> {
  return Uint32Array.from({ length: count }, (_, i) => first + i)
}

/** Without the rest of the parcel, which would go to the index's thread with them. */
function ownTerms({ size, lengths, offsets, terms, counts }: TermBatch): TermBatch {
  return {
    size,
    lengths: lengths.slice(),
    offsets: offsets.slice(),
    terms: terms.slice(),
    counts: counts.slice(),
  }
}
