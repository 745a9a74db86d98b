import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'

/** How long to wait for the end of a body whose answer is complete before the connection is closed. */
const DRAIN_MS = 1_000
/** Bytes buffered while nobody reads, before back-pressure pauses the sender. */
const MAX_HELD_BYTES = 64 * 2 ** 10

/** Takes the bytes of one read; returns whether the caller has enough for now. */
type Take = (bytes: Buffer) => boolean

export interface BodyReader {
  /**
   * Passes bytes to `take` until it returns true; resolves to false at the end of the body. This way, the promise wakes
   * the caller only if there is something for it. Rejects with errors thrown by `take` and errors of the connection.
   */
  read(take: Take): Promise<boolean>
  /** Closes the connection; if the answer is whole, drains it instead so that the connection can be reused. */
  close(isWhole: boolean): void
}

/** Reads the body of an answer as it arrives from the network; `idle` limits the waits for more bytes. */
export function createBodyReader(message: IncomingMessage, idle: IdleTimer): BodyReader {
  let held: Buffer[] = []
  let heldBytes = 0
  let end: { error: unknown } | undefined
  /** The pending read: processes the held bytes and returns whether it is done. */
  let waiting: (() => boolean) | undefined
  let isLooking = false

  const release = (): Buffer | undefined => {
    const bytes = held.length > 1 ? Buffer.concat(held, heldBytes) : held[0]
    held = []
    heldBytes = 0
    if (message.isPaused()) message.resume()
    return bytes
  }
  const look = () => {
    isLooking = false
    if (waiting?.()) waiting = undefined
  }
  const lookSoon = () => {
    // The HTTP parser emits the chunks of one network read one by one: process them together.
    if (!isLooking) process.nextTick(look)
    isLooking = true
  }
  const keep = (part: Buffer) => {
    held.push(part)
    heldBytes += part.length
    if (heldBytes > MAX_HELD_BYTES) message.pause()
    lookSoon()
  }
  message.on('data', keep)
  finished(message, (error) => {
    end = { error }
    lookSoon()
  })

  /** Returns true if `take` has enough, false at the end of the body, and undefined if more bytes may come. */
  const offer = (take: Take): boolean | undefined => {
    const bytes = release()
    if (bytes && take(bytes)) return true
    if (end?.error) throw end.error
    return end && false
  }
  const readNext = (take: Take) =>
    new Promise<boolean>((resolve, reject) => {
      waiting = () => {
        try {
          const isEnough = offer(take)
          if (isEnough === undefined) idle.renew()
          else resolve(isEnough)
          return isEnough !== undefined
        } catch (error) {
          reject(error)
          return true
        }
      }
      if (held.length > 0 || end) look()
    })

  return {
    read: (take) => idle.watch(readNext(take)),
    close(isWhole) {
      message.off('data', keep)
      held = []
      if (!isWhole) return void message.destroy()
      const timer = setTimeout(() => message.destroy(), DRAIN_MS)
      message.once('close', () => clearTimeout(timer))
      message.resume()
    },
  }
}

type IdleTimer = ReturnType<typeof createIdleTimer>

/** An idle timeout for a server. Counts only while waiting for it: a slow reader is not a stalled server. */
export function createIdleTimer(limitMs: number, caller: AbortSignal) {
  const controller = new AbortController()
  let limit = limitMs
  let isWaiting = false
  let isOver = false
  const end = () => {
    if (!isWaiting) return
    isOver = true
    controller.abort()
  }
  const leave = () => controller.abort(caller.reason)
  let timer = setTimeout(end, limit)
  if (caller.aborted) leave()
  else caller.addEventListener('abort', leave)
  return {
    /** Aborted when the server was silent for too long, or with the caller's signal. */
    signal: controller.signal,
    /** Whether the server was silent for too long. */
    get isOver() {
      return isOver
    },
    /** Waits for `work`; `signal` is aborted if that takes longer than the limit. */
    async watch<T>(work: Promise<T>): Promise<T> {
      isWaiting = true
      timer.refresh()
      try {
        return await work
      } finally {
        isWaiting = false
      }
    },
    /** Restarts the timeout, since the server sent something. */
    renew: () => void timer.refresh(),
    /** Lowers the limit from now on; a higher one is ignored. */
    limit(milliseconds: number) {
      if (milliseconds >= limit) return
      limit = milliseconds
      clearTimeout(timer)
      timer = setTimeout(end, limit)
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      caller.removeEventListener('abort', leave)
    },
  }
}
