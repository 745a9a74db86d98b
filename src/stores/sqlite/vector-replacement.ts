import type { VectorReplacement } from '../document-store.ts'
import type { VectorReads } from './vector-reads.ts'
import type { WriteQueue } from './write-queue.ts'

export function createVectorReplacement(
  { write }: Pick<WriteQueue, 'write'>,
  { nextEmbedding, chunksWithoutNext }: Pick<VectorReads, 'nextEmbedding' | 'chunksWithoutNext'>,
): VectorReplacement {
  return {
    // The directory has one process, which makes them in one place.
    async alone(work, signal) {
      await work(signal)
      return true
    },
    begin: (embedding) => write({ name: 'beginVectors', input: embedding }),
    begun: nextEmbedding,
    chunksWithout: chunksWithoutNext,
    add: ({ keys, dimension, values }) =>
      write({ name: 'addNextVectors', input: { keys: [...keys], dimension, values } }),
    finish: () => write({ name: 'swapVectors', input: undefined }),
  }
}
