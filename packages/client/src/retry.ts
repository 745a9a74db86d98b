import { AgentServerError, ConnectionError, TimeoutError } from './errors.ts'

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 8_000
/** If the server asks for a longer wait, there is no retry: whether to wait is then the caller's decision. */
const MAX_RETRY_AFTER_SECONDS = 60
const KEY_BYTES = 16
/** Failures that last: a wrong key for the server's model, or a full disk. */
const LASTING = ['upstream_unauthorized', 'storage_full']

/**
 * Milliseconds to wait before the next attempt; undefined if a retry is of no use. Transient failures are: a lost
 * connection, silence, 408, 429, 5xx, and a 409 with `Retry-After`.
 */
export function pauseBeforeRetry(error: unknown, attempt: number): number | undefined {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return backoff(attempt)
  if (!(error instanceof AgentServerError)) return undefined
  const { status = 0, code, retryAfter } = error
  if (code && LASTING.includes(code)) return undefined
  const isPassing = status === 408 || status === 429 || status >= 500
  if (!isPassing && !(status === 409 && retryAfter !== undefined)) return undefined
  if (retryAfter === undefined) return backoff(attempt)
  return retryAfter <= MAX_RETRY_AFTER_SECONDS ? retryAfter * 1_000 : undefined
}

/** Half of the wait is random jitter, so that many clients do not come back at once. */
function backoff(attempt: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS) * (0.5 + Math.random() / 2)
}

/** A random key. `crypto.randomUUID` is missing in browsers on pages without TLS. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
