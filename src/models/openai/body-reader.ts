import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'

/** How long the end of a read answer may take before its connection is given up. */
const DRAIN_MS = 1_000
/** What may come of a body while nobody reads it, before its sender is held up. */
const MAX_HELD_BYTES = 64 * 2 ** 10

/** Takes the bytes that came together; answers whether the wait for more is over. */
type Take = (bytes: Buffer) => boolean

export interface BodyReader {
  /**
   * Gives what comes to `take` until that answers true; false at the end of the body. So a caller is woken, by a promise,
   * only where there is something for it. Rejects with what `take` throws, and with what the connection fails with.
   */
  read(take: Take): Promise<boolean>
  /** Gives the connection up, or reads the rest of a whole answer so that the connection can serve the next call. */
  close(isWhole: boolean): void
}

/** The bytes of an answer as they come from the network; `idle` times the waits for them. */
export function createBodyReader(message: IncomingMessage, idle: IdleTimer): BodyReader {
  let held: Buffer[] = []
  let heldBytes = 0
  let end: { error: unknown } | undefined
  /** Whoever reads: looks at what is held, and answers whether its wait is over. */
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
    // The parser of HTTP gives the chunks of one read of the network one by one: they are looked at together.
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

  /** Answers whether `take` has enough; nothing where more may come. */
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

/** Times the waits for a server, and those only: a reader that takes its time is not a stalled server. */
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
    /** Aborted once the server kept silent for too long, and as the caller's. */
    signal: controller.signal,
    /** Whether the server kept silent for too long. */
    get isOver() {
      return isOver
    },
    /** Waits for `work`; `signal` aborts when it takes longer than the limit. */
    async watch<T>(work: Promise<T>): Promise<T> {
      isWaiting = true
      timer.refresh()
      try {
        return await work
      } finally {
        isWaiting = false
      }
    },
    /** The server has said something: the wait begins anew. */
    renew: () => void timer.refresh(),
    /** Shortens the limit of every wait from now on. */
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
