/** What `retry-after-ms` or `retry-after` (seconds, or a date) ask for, in milliseconds. */
export function retryAfterOf(headers: Headers): number | undefined {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return milliseconds
  const header = headers.get('retry-after')?.trim()
  if (!header) return undefined
  const seconds = Number(header)
  if (seconds >= 0) return seconds * 1_000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

/** What `work` settles with, or the signal's reason if that comes first; what was begun goes on unobserved. */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
