/** Turns text into unit vectors, so that the dot product of two vectors is their cosine. */
export interface Embedder {
  /** `builtin`: runs in processes of this server, which start on demand. */
  readonly kind: 'builtin' | 'remote'
  /** The model's name, which is stored with its vectors. */
  readonly name: string
  /** Length of every vector; undefined until it is known, and constant from then on. */
  readonly dimension: number | undefined
  /**
   * Returns one vector per text, in order; of a text longer than the model's window, the beginning counts.
   * Senders (API keys; the server itself if none) take turns where texts have to wait. Throws `EmbedderError`, or the
   * signal's reason if it is aborted.
   */
  embedDocuments(
    texts: readonly string[],
    signal: AbortSignal,
    sender?: string,
  ): Promise<Float32Array<ArrayBuffer>[]>
  /** Like `embedDocuments`, for a search query, which some models need marked as such. */
  embedQuery(text: string, signal: AbortSignal, sender?: string): Promise<Float32Array<ArrayBuffer>>
  /** Ends the processes that it has started. */
  close?(): void
}

/** Reasons for missing vectors. */
type EmbedderErrorKind =
  /** The embedder does not work for any text, e.g. it is down or rejects the key. It may recover. */
  | 'unavailable'
  /** The embedder works, but rejects this text. */
  | 'refused'
  /** The embedder works, but is too busy to answer in time. */
  | 'busy'
  /** The embedder's vectors are not compatible with the stored ones. It may recover. */
  | 'changed'

/** Thrown if there is no vector. `message` may be shown: it contains no secrets and no raw text of the upstream. */
export class EmbedderError extends Error {
  override readonly name = 'EmbedderError'
  readonly kind: EmbedderErrorKind
  /** The positions of the refused texts among those sent together, if known. */
  readonly positions: readonly number[] | undefined

  constructor(
    kind: EmbedderErrorKind,
    message: string,
    { positions, ...options }: { cause?: unknown; positions?: readonly number[] } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.positions = positions
  }
}
