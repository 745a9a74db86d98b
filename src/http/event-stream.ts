import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { settlesWithin } from '../lib/abort.ts'
import type { Shortcut } from '../lib/shortcut.ts'
import type { ErrorBody } from '../schemas/error.ts'
import { report, sendError } from './error-handler.ts'

const KEEP_ALIVE = ': keep-alive\n\n'

/** How long a stream may send nothing, in milliseconds. */
export interface Silence {
  /** Until then a failure can still become an HTTP status; after that, proxies expect headers. */
  beforeHeaders: number
  /** Shorter than the idle timeout of common proxies (nginx: 60 s, load balancers: 30 s and up). */
  betweenFrames: number
}

const SILENCE: Silence = { beforeHeaders: 5_000, betweenFrames: 15_000 }

/** How a sequence of events is written as server-sent events. */
export interface FrameFormat<Event> {
  encode(event: Event): string
  /** The frame that reports a failure; it is the last one. */
  encodeError(body: ErrorBody): string
  /** Written after the last event of a stream that did not fail. */
  end: string
  /** For other streams than server-sent events: the media type, and the text that keeps the connection alive. */
  kind?: { mediaType: string; keepAlive: string }
}

type Batches<Event> = AsyncGenerator<readonly Event[]>

/** Starts the events; some may go through the shortcut instead of being yielded. */
export type Begin<Event> = (shortcut: Shortcut<readonly Event[]>) => Batches<Event>

/**
 * Streams the events of `batches`, none of which may be empty; only this writes them to the socket. A slow reader
 * pauses the generator. When the reader leaves, the generator's `finally` blocks run, so whatever it awaits should
 * end with the call's own signal. An error before the first batch is sent as an HTTP error.
 */
export function sendEvents<Event>(
  reply: FastifyReply,
  events: Batches<Event> | Begin<Event>,
  format: FrameFormat<Event>,
  silence: Silence = SILENCE,
): void {
  let frames: Frames<Event> | undefined
  const shortcut = {
    isOpen: () => frames?.isOpen() ?? false,
    take: (batch: readonly Event[]) => frames?.write(batch),
  }
  const batches = typeof events === 'function' ? events(shortcut) : events
  const first = batches.next()
  settlesWithin(first, silence.beforeHeaders)
    .then((isSettled) => {
      reply.headers({
        'content-type': `${format.kind?.mediaType ?? 'text/event-stream'}; charset=utf-8`,
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      })
      frames = framesOf(first, batches, format, reply, silence.betweenFrames)
      // Headers are sent only with the first bytes.
      if (!isSettled) frames.stream.push(format.kind?.keepAlive ?? KEEP_ALIVE)
      reply.send(frames.stream)
    })
    .catch((error: unknown) => sendError(error, reply.request, reply))
}

interface Frames<Event> {
  stream: Readable
  /** Whether the reader waits for the next batch and has room for it. */
  isOpen(): boolean
  write(batch: readonly Event[]): void
}

/** Each batch is one write. One timer serves the whole stream, so a batch costs at most its own promise. */
function framesOf<Event>(
  first: Promise<IteratorResult<readonly Event[]>>,
  batches: Batches<Event>,
  format: FrameFormat<Event>,
  { raw, request }: FastifyReply,
  silenceMs: number,
): Frames<Event> {
  let next: typeof first | undefined = first
  let isWaiting = false
  let isFull = false
  const stream = new Readable({
    read() {
      isFull = false
      if (!isWaiting) void writeNext()
    },
    destroy(error, callback) {
      isFull = true
      clearInterval(keepAlive)
      batches.return(undefined).catch((failure: unknown) => report(failure, request))
      callback(error)
    },
  })
  const keepAlive = setInterval(
    () => isWaiting && stream.push(format.kind?.keepAlive ?? KEEP_ALIVE),
    silenceMs,
  )
  const isOpen = () => isWaiting && !isFull && !raw.socket?.writableNeedDrain
  return { stream, isOpen, write: writePast }

  function write(batch: readonly Event[]): void {
    keepAlive.refresh()
    isFull = !stream.push(encode(batch))
  }

  /**
   * Writes a chunk of HTTP straight to the socket for the shortcut, because the streams in between take a seventh
   * of a delta's processor time. Only after the headers, and only if none of those streams holds data, which must
   * come first.
   */
  function writePast(batch: readonly Event[]): void {
    const { socket } = raw
    const isHeld = !raw.headersSent || raw.writableCorked > 0 || stream.readableLength > 0
    // A pipelined response that waits for an earlier one has no socket yet.
    if (isHeld || !socket?.writable) {
      write(batch)
      return
    }
    const text = encode(batch)
    // An empty chunk would end the response.
    if (text === '') return
    keepAlive.refresh()
    const size = Buffer.byteLength(text).toString(16)
    socket.write(raw.chunkedEncoding ? `${size}\r\n${text}\r\n` : text)
  }

  function encode(batch: readonly Event[]): string {
    return batch.map((event) => format.encode(event)).join('')
  }

  /**
   * Corks the socket for this turn: a batch that does not use the shortcut is mostly the last, so the end leaves in
   * the same write.
   */
  function holdBack(): void {
    raw.cork()
    setImmediate(() => raw.uncork())
  }

  async function writeNext(): Promise<void> {
    isWaiting = true
    keepAlive.refresh()
    try {
      const { done, value } = await (next ?? batches.next())
      if (!done && !next) holdBack()
      next = undefined
      isWaiting = false
      if (!done) return write(value)
      stream.push(format.end)
      stream.push(null)
    } catch (error) {
      stream.push(format.encodeError(report(error, request)))
      stream.push(null)
    }
  }
}

/** Whether a client accepts JSON and no type that includes event streams. */
export function acceptsJsonOnly({ accept = '' }: Pick<IncomingHttpHeaders, 'accept'>): boolean {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.includes('application/json') && !ranges.some((range) => EVENTS.has(range ?? ''))
}

const EVENTS = new Set(['text/event-stream', 'text/*', '*/*'])
