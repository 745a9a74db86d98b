import { AppError } from '../../errors.ts'

const RETRY_AFTER_SECONDS = 5

/** Qdrant understood a request and will not do it, however often it is asked. Its words are for the log. */
export class QdrantRefusal extends Error {
  override readonly name = 'QdrantRefusal'
  readonly status: number

  constructor(status: number, words: string) {
    super(`Qdrant refused a request with status ${status}: ${words}`)
    this.status = status
  }
}

/** Qdrant cannot be used now; `message` is shown to the client. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('index_unavailable', message, { cause, retryAfter: RETRY_AFTER_SECONDS })
}

/** What an answer that is not a success means. */
export function errorOf(status: number, words: string): Error {
  const refusal = new QdrantRefusal(status, words)
  if (status === 401 || status === 403) {
    return unavailable(
      'The search index refuses the key of this server: see QDRANT_API_KEY',
      refusal,
    )
  }
  if (status === 404) return unavailable('The search index lacks its collection', refusal)
  if (passes(status)) return unavailable('The search index does not work at the moment', refusal)
  return refusal
}

/** Whether the same request may succeed a moment later. */
export function passes(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}
