import type { Meter } from './meter.ts'

/** Scores texts together with the question, which is more accurate than lexical or vector search. */
export interface Reranker {
  /** The model's name. */
  readonly name: string
  /** Whether the scores tell how relevant a text is, or only which comes first. */
  readonly scores: 'relevance' | 'order'
  /**
   * Returns a score from 0 to 1 for each text, in the order of the texts. Of a text longer than the model's window, the
   * beginning counts. Throws `RerankerError`, or the signal's reason if it is aborted.
   */
  rerank(input: RerankInput, signal: AbortSignal): Promise<number[]>
}

export interface RerankInput {
  query: string
  /** The best first, as far as that is known. */
  texts: readonly string[]
  /** For calls of a chat model. */
  meter?: Meter | undefined
}

/** Thrown if there are no scores. `message` may be shown: it contains no secrets and no raw text of the upstream. */
export class RerankerError extends Error {
  override readonly name = 'RerankerError'
}
