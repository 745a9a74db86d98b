import type { UpstreamFailure } from './failures.ts'

const MAX_RETRIES = 2
/** A server that asks for more patience than this is reported instead of waited for. */
const MAX_WAIT_MS = 5_000
const FIRST_WAIT_MS = 400

/**
 * How long to wait before trying again, or nothing when another try would not help. `retries` is how many
 * there were. Only what passes by itself is tried again, never a stall: the caller has waited long enough.
 */
export function retryDelay({ facts }: UpstreamFailure, retries: number): number | undefined {
  if (retries >= MAX_RETRIES || facts.final || !isPassing(facts)) return undefined
  if (facts.retryAfterMs === undefined) return backoff(retries)
  return facts.retryAfterMs <= MAX_WAIT_MS ? facts.retryAfterMs : undefined
}

function isPassing({ kind, status = 0 }: UpstreamFailure['facts']): boolean {
  if (kind === 'connection' || kind === 'unreachable') return true
  return kind === 'status' && (status >= 500 || [408, 409, 429].includes(status))
}

function backoff(retries: number): number {
  const jitter = 0.75 + Math.random() * 0.5
  return FIRST_WAIT_MS * 2 ** retries * jitter
}
