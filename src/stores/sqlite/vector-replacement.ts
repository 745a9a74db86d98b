import type { VectorReplacement } from '../document-store.ts'
import type { VectorReads } from './vector-reads.ts'
import type { WriteQueue } from './write-queue.ts'

export function createVectorReplacement(
  { write }: Pick<WriteQueue, 'write'>,
  chunksWithout: VectorReads['chunksWithoutNext'],
): VectorReplacement {
  return {
    begin: (embedding) => write({ name: 'beginVectors', input: embedding }),
    chunksWithout,
    add: ({ keys, dimension, values }) =>
      write({ name: 'addNextVectors', input: { keys: [...keys], dimension, values } }),
    finish: () => write({ name: 'swapVectors', input: undefined }),
  }
}
