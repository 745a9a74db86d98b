import { AbortError, type AgentServerError, ConnectionError, TimeoutError } from './errors.ts'

/** The longest delay of timers; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Aborts one attempt if its caller aborts, or the server is silent for too long. */
export interface Deadline {
  /** Pass it to everything that the attempt waits for. */
  signal: AbortSignal
  /** Restarts the timeout, after a sign of life. */
  refresh(): void
  /** Pauses the timeout until `refresh`, while the server is not being waited for. */
  hold(): void
  /** Ends the deadline, and releases the caller's signal. */
  end(): void
  /** Converts a failure of the attempt to the error to throw. */
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
    signal: controller.signal,
    refresh,
    hold,
    end,
    explain(cause) {
      if (caller?.aborted) return aborted(caller)
      if (isOver) return new TimeoutError(`${what}: nothing was heard for ${timeout} ms`)
      const message = `${what}: the server cannot be reached, or the connection broke${codeOf(cause)}`
      return new ConnectionError(message, { cause })
    },
  }
}

/** The system's word for a failure, such as ECONNREFUSED; the messages of some runtimes hold headers. */
function codeOf(error: unknown): string {
  const { cause, code = Object(cause).code } = Object(error)
  return typeof code === 'string' ? ` (${code})` : ''
}

/** Throws `AbortError` if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal)
}

function aborted({ reason }: AbortSignal): AbortError {
  return new AbortError('The request was aborted', { cause: reason })
}

/** Resolves after the delay; throws `AbortError` as soon as the signal is aborted. */
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
 * The same stream under a deadline, which runs only while data is awaited: a slow reader does not count as the
 * server's silence. Throws the errors that the deadline explains.
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
