/**
 * Settles like `work`, or rejects with the signal's reason if that comes first; the work itself goes on, unobserved.
 */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** A time limit, combined with other reasons to stop. Dispose of it (`using`) when the work has ended. */
export interface Deadline extends Disposable {
  /** Aborted with a `TimeoutError` when the time is over, or with the reason of any of the other signals. */
  readonly signal: AbortSignal
  /** Whether the time is over. */
  readonly isOver: boolean
  /** Starts or restarts the full time, unless it is over. */
  readonly renew: () => void
}

/**
 * Starts a deadline. Unlike `AbortSignal.timeout` and `AbortSignal.any`, it leaves nothing behind once disposed of:
 * their timers, and all that they hold, live until the time is over, even if the work has long ended.
 */
export function startDeadline(
  milliseconds: number,
  ...others: readonly (AbortSignal | undefined)[]
): Deadline {
  const deadline = createDeadline(milliseconds, ...others)
  deadline.renew()
  return deadline
}

/** The same, but its time begins with the first `renew`. */
export function createDeadline(
  milliseconds: number,
  ...others: readonly (AbortSignal | undefined)[]
): Deadline {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const end = () => {
    deadline.isOver = true
    controller.abort(new DOMException('The time is over', 'TimeoutError'))
  }
  const renew = () => {
    if (deadline.isOver) return
    if (timer) timer.refresh()
    else timer = setTimeout(end, milliseconds).unref()
  }
  const followed = others.flatMap((signal) => {
    if (!signal) return []
    const abort = () => controller.abort(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
    return [{ signal, abort }]
  })
  const deadline = {
    signal: controller.signal,
    renew,
    isOver: false,
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const { signal, abort } of followed) signal.removeEventListener('abort', abort)
    },
  }
  return deadline
}

/**
 * The result of `work`. If it takes longer than `milliseconds`, throws the error made by `late`; if `signal` aborts
 * first, throws its reason.
 */
export async function withDeadline<Result>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
  late: (cause: unknown) => Error,
  signal?: AbortSignal,
): Promise<Result> {
  using deadline = startDeadline(milliseconds, signal)
  try {
    return await work(deadline.signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw deadline.isOver ? late(error) : error
  }
}

/** Whether `work` resolves within `milliseconds`; rejects if it rejects within them. */
export function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, false)
    work.then(() => resolve(true), reject).finally(() => clearTimeout(timer))
  })
}

/** Waits so long; rejects with the signal's reason as soon as it is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await untilAborted(promise, signal)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Does `work` after `firstMs`, and again `everyMs` after each time that it has ended, until `signal` is aborted. Throws
 * what `work` throws before that.
 */
export async function repeat(
  work: () => Promise<unknown>,
  { firstMs = 0, everyMs }: { firstMs?: number; everyMs: number },
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let wait = firstMs; ; wait = everyMs) {
      await pause(wait, signal)
      await work()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
