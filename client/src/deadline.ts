import { AbortError, type AgentServerError, ConnectionError, TimeoutError } from './errors.ts'

/** The longest delay that timers keep; a longer one would end at once. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Ends one attempt where its caller aborts, or where the server is silent for too long. */
export interface Deadline {
  /** For everything that the attempt waits for. */
  signal: AbortSignal
  /** There was a sign of life: the time begins anew. */
  refresh(): void
  /** The server is not waited for at the moment: no time passes until `refresh`. */
  hold(): void
  /** Nothing more is waited for; the caller's signal is let go. */
  end(): void
  /** Says why the attempt has failed. */
  explain(error: unknown): AgentServerError
}

/** `timeout` is in milliseconds; `what` names the request in errors. */
export function startDeadline(
  what: string,
  timeout: number,
  caller: AbortSignal | undefined,
): Deadline {
  const controller = new AbortController()
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const hold = () => clearTimeout(timer)
  const refresh = () => {
    hold()
    if (controller.signal.aborted) return
    timer = setTimeout(
      () => {
        isOver = true
        controller.abort()
      },
      Math.min(timeout, MAX_DELAY_MS),
    )
  }
  const abort = () => controller.abort(caller?.reason)
  const end = () => {
    hold()
    caller?.removeEventListener('abort', abort)
  }
  caller?.addEventListener('abort', abort, { once: true })
  if (caller?.aborted) abort()
  refresh()
  return {
    ...{ signal: controller.signal, refresh, hold, end },
    explain(cause) {
      if (caller?.aborted) return aborted(caller)
      if (isOver) return new TimeoutError(`${what}: nothing was heard for ${timeout} ms`)
      const message = `${what}: the server cannot be reached, or the connection broke`
      return new ConnectionError(message, { cause })
    },
  }
}

/** Throws `AbortError` where the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal)
}

function aborted({ reason }: AbortSignal): AbortError {
  return new AbortError('The request was aborted', { cause: reason })
}

/** Resolves after so many milliseconds; throws `AbortError` as soon as the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', settle)
      if (signal?.aborted) reject(aborted(signal))
      else resolve()
    }
    const timer = setTimeout(settle, Math.min(milliseconds, MAX_DELAY_MS))
    signal?.addEventListener('abort', settle, { once: true })
    if (signal?.aborted) settle()
  })
}

/**
 * The same bytes under a deadline, which runs only while they are waited for: a reader that takes its time is
 * not the server's silence. Throws what the deadline explains.
 */
export function watchStream(
  stream: ReadableStream<Uint8Array>,
  deadline: Deadline,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  deadline.hold()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        deadline.refresh()
        try {
          const { value, done } = await reader.read()
          if (!done) {
            deadline.hold()
            return controller.enqueue(value)
          }
          deadline.end()
          controller.close()
        } catch (error) {
          deadline.end()
          controller.error(deadline.explain(error))
        }
      },
      cancel(reason) {
        deadline.end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
