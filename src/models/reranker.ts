/** Reads a question together with each text, which measures their relevance better than words or vectors can. */
export interface Reranker {
  /** The model's name. */
  readonly name: string
  /**
   * How relevant each text is to the question, in the order of the texts: higher is better, comparable
   * within one answer only. What is longer than the model's window is read from its beginning. Throws
   * `RerankerError`; an aborted signal ends it with the signal's reason.
   */
  rerank(query: string, texts: readonly string[], signal: AbortSignal): Promise<number[]>
}

/** Why there are no scores. `message` may be shown: it holds no secret and none of the upstream's raw words. */
export class RerankerError extends Error {
  override readonly name = 'RerankerError'
}
