/** Turns text into unit vectors, so that the dot product of two is the cosine between them. */
export interface Embedder {
  /** `builtin`: in processes of this server, which start when there is work. */
  readonly kind: 'builtin' | 'remote'
  /** The model's name, which is kept with the vectors it made. */
  readonly name: string
  /** Length of every vector; nothing until it is known, from then on the same for ever. */
  readonly dimension: number | undefined
  /**
   * One vector per text, in order; a text longer than the model's window is embedded from its beginning.
   * Throws `EmbedderError`; an aborted signal ends it with the signal's reason.
   */
  embedDocuments(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<Float32Array<ArrayBuffer>[]>
  /** As `embedDocuments`, for what is searched for: some models want it marked as that. */
  embedQuery(text: string, signal: AbortSignal): Promise<Float32Array<ArrayBuffer>>
  /** Ends what it has started. */
  close?(): void
}

/** Why there is no vector. */
type EmbedderErrorKind =
  /** The embedder does not work for anybody: down, refusing the key, of another dimension. It may come back. */
  | 'unavailable'
  /** The embedder works, but not for this text. */
  | 'refused'
  /** The embedder gives vectors that do not go with those that are kept. It may come back. */
  | 'changed'

/** `message` may be shown: it holds no secret and none of the upstream's raw words. */
export class EmbedderError extends Error {
  override readonly name = 'EmbedderError'
  readonly kind: EmbedderErrorKind

  constructor(kind: EmbedderErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}
