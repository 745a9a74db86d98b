/** What `work` settles with, or the signal's reason if that comes first; what was begun goes on unobserved. */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** What `work` answers; what `late` makes where it takes longer than that, and the signal's reason where that comes first. */
export async function withDeadline<Result>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
  late: () => Error,
  signal?: AbortSignal,
): Promise<Result> {
  const deadline = AbortSignal.timeout(milliseconds)
  try {
    return await work(signal ? AbortSignal.any([signal, deadline]) : deadline)
  } catch (error) {
    signal?.throwIfAborted()
    throw deadline.aborted ? late() : error
  }
}

/** Rejects with the signal's reason as soon as it is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await untilAborted(promise, signal)
  } finally {
    clearTimeout(timer)
  }
}
