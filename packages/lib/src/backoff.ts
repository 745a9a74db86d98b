export interface Backoff {
  firstMs: number
  maxMs: number
  /** The factor by which each wait is longer than the one before. */
  factor?: number
}

/**
 * How long to wait after the `attempt`th failure (from 1): exponential, with random jitter over the last half, so that
 * retries spread.
 */
export function backoffMs(
  attempt: number,
  { firstMs, maxMs, factor = 2 }: Backoff,
  random: () => number = Math.random,
): number {
  const full = Math.min(maxMs, firstMs * factor ** (attempt - 1))
  return Math.round(full * (0.5 + random() / 2))
}

/** The wait that `retry-after-ms` or `retry-after` (seconds, or a date) asks for, in milliseconds. */
export function retryAfterOf(headers: Headers): number | undefined {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds
  const header = headers.get('retry-after')?.trim()
  if (!header) return undefined
  const seconds = Number(header)
  // Some proxies give the time itself, in seconds.
  if (seconds >= 1e9) return Math.max(0, seconds * 1_000 - Date.now())
  if (seconds >= 0) return seconds * 1_000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
