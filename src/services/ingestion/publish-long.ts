import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { untilAborted } from '../../lib/abort.ts'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import { createChunkBatchReader } from '../../stores/chunk-codec.ts'
import type {
  ChunkVectors,
  DocumentStore,
  IngestionJob,
  StagedChunks,
} from '../../stores/document-store.ts'
import {
  type ChunkBatchDependencies,
  type ChunkTally,
  chunkBatchesOf,
  type IndexedChunkBatch,
} from './prepare.ts'
import { type Publisher, UnconfirmedError } from './publish.ts'
import { IndexError } from './retry-policy.ts'
import type { OpenSource } from './uploads.ts'

export type LongDocumentStore = Pick<
  DocumentStore,
  'keepFile' | 'readStaged' | 'dropFile' | 'reserveChunkKeys' | 'completeStaged'
>

interface Dependencies extends ChunkBatchDependencies {
  store: LongDocumentStore
  index: Pick<ChunkIndex, 'add' | 'addVectors'>
  publisher: Pick<Publisher, 'forget'>
}

/**
 * Makes a long document ready in pieces, so that it never is in memory whole: each piece is split, embedded
 * and laid on the disk. When all are there the index takes them in turn, and then the document store in one step.
 * Answers how many chunks, or nothing if the claim is no longer current. Throws as `Publisher.publish`, and
 * what preparing and embedding throw.
 */
export function createLongPublishing(dependencies: Dependencies) {
  const { store, index, publisher } = dependencies

  const addToIndex = async ({ metadata }: IngestionJob, { file, firstKey }: StagedChunks) => {
    const reader = createChunkBatchReader<IndexedChunkBatch>()
    let next = firstKey
    for await (const piece of store.readStaged(file)) {
      for (const { chunks, vectors, terms } of reader.push(piece)) {
        const keys = rangeOf(next, chunks.length)
        const facts = chunks.map(() => metadata)
        await index.add(keys, ownTerms(terms), facts)
        if (vectors) await index.addVectors(ownVectors(keys, vectors), facts)
        next += chunks.length
      }
      freeYoungMemory()
    }
  }

  const publish = async (job: IngestionJob, kept: StagedChunks): Promise<boolean> => {
    const keys = Array.from(rangeOf(kept.firstKey, kept.count))
    try {
      await addToIndex(job, kept)
    } catch (cause) {
      await publisher.forget(keys)
      throw new IndexError('the index did not take the chunks', { cause })
    }
    const superseded = await store.completeStaged(job, kept).catch((cause: unknown) => {
      throw new UnconfirmedError(keys, cause)
    })
    await publisher.forget(superseded ?? keys)
    return superseded !== undefined
  }

  return async (
    job: IngestionJob,
    source: OpenSource,
    signal: AbortSignal,
  ): Promise<{ chunks: number } | undefined> => {
    const tally: ChunkTally = { count: 0, characters: 0 }
    const batches = chunkBatchesOf(dependencies, { title: job.title, source, tally }, signal)
    const { number: file } = await store.keepFile(batches)
    let isReady = false
    try {
      const firstKey = await store.reserveChunkKeys(tally.count)
      isReady = await untilAborted(publish(job, { file, firstKey, ...tally }), signal)
    } finally {
      // What cannot be dropped now is dropped by the next start.
      if (!isReady) await store.dropFile(file).catch(() => undefined)
    }
    return isReady ? { chunks: tally.count } : undefined
  }
}

function rangeOf(first: number, count: number): Uint32Array<ArrayBuffer> {
  return Uint32Array.from({ length: count }, (_, i) => first + i)
}

function ownVectors(keys: Uint32Array<ArrayBuffer>, { dimension, values }: ChunkVectors) {
  return { keys, dimension, values: values.slice() }
}

/** Without the rest of the chunk batch, which would go to the index's thread with them. */
function ownTerms({ size, lengths, offsets, terms, counts }: TermBatch): TermBatch {
  return {
    size,
    lengths: lengths.slice(),
    offsets: offsets.slice(),
    terms: terms.slice(),
    counts: counts.slice(),
  }
}
