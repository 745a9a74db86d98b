import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'

/** How long the end of a read answer may take before its connection is given up. */
const DRAIN_MS = 1_000
/** What may come of a body while nobody reads it, before its sender is held up. */
const MAX_HELD_BYTES = 64 * 2 ** 10

/** Makes something of bytes, or nothing. */
type Take<Made> = (bytes: Buffer) => Made | undefined

export interface BodyReader {
  /**
   * Waits until `take` makes something of what comes, all of one moment at a time, and answers that; where it makes
   * nothing, the wait goes on. Nothing at the end. Throws what `take` throws, and what the connection fails with.
   */
  read<Made>(take: Take<Made>): Promise<Made | undefined>
  /** Gives the connection up, or reads the rest of a body so that the connection can serve the next call. */
  close(isWhole: boolean): void
}

export function readerOf(message: IncomingMessage, idle?: IdleTimer): BodyReader {
  const arrivals = createArrivals(message)
  /** Answers whether the wait is over. */
  const settle = <Made>(take: Take<Made>, resolve: (made: Made | undefined) => void): boolean => {
    const bytes = arrivals.release()
    const made = bytes && take(bytes)
    if (made === undefined && !arrivals.isOver()) {
      idle?.renew()
      return false
    }
    resolve(made)
    return true
  }
  const readNext = <Made>(take: Take<Made>) =>
    new Promise<Made | undefined>((resolve, reject) => {
      arrivals.watch(() => {
        try {
          return settle(take, resolve)
        } catch (error) {
          reject(error)
          return true
        }
      })
    })

  return {
    read: (take) => (idle ? idle.watch(readNext(take)) : readNext(take)),
    close: arrivals.close,
  }
}

/** What has come of a message and was not looked at yet. */
function createArrivals(message: IncomingMessage) {
  let held: Buffer[] = []
  let bytes = 0
  let end: { error: unknown } | undefined
  /** Whoever waits: looks at what has come, and answers whether it has waited enough. */
  let waiting: (() => boolean) | undefined
  let isLooking = false

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
    bytes += part.length
    if (bytes > MAX_HELD_BYTES) message.pause()
    lookSoon()
  }
  message.on('data', keep)
  finished(message, (error) => {
    end = { error }
    lookSoon()
  })

  return {
    watch(next: () => boolean) {
      waiting = next
      if (held.length > 0 || end) look()
    },
    release(): Buffer | undefined {
      const all = held.length > 1 ? Buffer.concat(held, bytes) : held[0]
      held = []
      bytes = 0
      if (message.isPaused()) message.resume()
      return all
    },
    /** Whether nothing more comes. Throws what the connection failed with. */
    isOver(): boolean {
      if (end?.error) throw end.error
      return end !== undefined
    },
    close(isWhole: boolean) {
      message.off('data', keep)
      held = []
      if (!isWhole) return void message.destroy()
      const timer = setTimeout(() => message.destroy(), DRAIN_MS)
      message.once('close', () => clearTimeout(timer))
      message.resume()
    },
  }
}

/** The rest of a body, or as much of it as is allowed. */
export async function readText(
  reader: BodyReader,
  maxBytes: number,
  first?: Buffer,
): Promise<string> {
  const parts = first ? [first] : []
  let bytes = first?.length ?? 0
  while (bytes < maxBytes) {
    const part = await reader.read((bytes) => bytes)
    if (!part) break
    parts.push(part)
    bytes += part.length
  }
  if (bytes >= maxBytes) reader.close(false)
  return Buffer.concat(parts).toString('utf8', 0, maxBytes)
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
