import type { EmbeddingModel, KeyedVectors, StoredChunk } from './document-store.ts'

/** Makes the vectors of all chunks anew, beside those in use, in steps that survive a restart. */
export interface VectorReplacement {
  /**
   * Does `work` while nobody else makes vectors anew, with a signal that is aborted, too, where that can no longer be
   * promised. False, and nothing is done, where somebody does.
   */
  alone(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<boolean>
  /** Begins, or goes on with what was begun for the same embedding. Answers how many chunks have a new vector. */
  begin(embedding: EmbeddingModel): Promise<number>
  /** What was begun and not finished, with the number of chunks that have a new vector. */
  begun(): Promise<(EmbeddingModel & { vectors: number }) | undefined>
  /** Some chunks after `key`, in ascending order, that have no new vector yet; none when all have one. */
  chunksWithout(key: number, limit: number): Promise<StoredChunk[]>
  /** Keeps the new vectors of these chunks; of what was removed meanwhile none is kept. */
  add(vectors: KeyedVectors): Promise<void>
  /** Puts the new vectors in the place of the old ones, in one step. Throws unless every chunk has one. */
  finish(): Promise<void>
}
