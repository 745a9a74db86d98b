import { AgentServerError, ConnectionError, TimeoutError } from './errors.ts'

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 8_000
/** A server that wants to be left alone for longer is not asked again: waiting is then for the caller to decide. */
const MAX_RETRY_AFTER_SECONDS = 60
const KEY_BYTES = 16
/** A wrong key of the server's model stays wrong, and a disk full. */
const LASTING = ['upstream_unauthorized', 'storage_full']

/**
 * Milliseconds to wait before a failed attempt is made again; undefined where that is of no use. What may pass by
 * itself: a lost connection, silence, 408, 429, 5xx, and a 409 that says when.
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

/** The last half is left to chance, so that many clients do not come back as one. */
function backoff(attempt: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS) * (0.5 + Math.random() / 2)
}

/** `crypto.randomUUID` is missing in browsers on pages without TLS. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
