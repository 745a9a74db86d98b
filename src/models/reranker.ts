/** Scores each text together with the question, which is more accurate than lexical or vector search. */
export interface Reranker {
  /** The model's name. */
  readonly name: string
  /**
   * Returns the relevance of each text to the question, from 0 to 1, in the order of the texts. Of a text longer than
   * the model's window, the beginning counts. Throws `RerankerError`, or the signal's reason if it is aborted.
   */
  rerank(query: string, texts: readonly string[], signal: AbortSignal): Promise<number[]>
}

/** Thrown if there are no scores. `message` may be shown: it contains no secrets and no raw text of the upstream. */
export class RerankerError extends Error {
  override readonly name = 'RerankerError'
}
