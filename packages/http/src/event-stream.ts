import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { settlesWithin } from '@agent-server/lib/abort.ts'
import type { ErrorBody } from '@agent-server/schemas/error.ts'
import type { FastifyReply } from 'fastify'
import Negotiator from 'negotiator'
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

/**
 * Streams the events of `batches`, none of which may be empty; only this writes them to the socket. A slow reader
 * pauses the generator. When the reader leaves, the generator's `finally` blocks run, so whatever it awaits should
 * end with the call's own signal. An error before the first batch is sent as an HTTP error.
 */
export function sendEvents<Event>(
  reply: FastifyReply,
  batches: Batches<Event>,
  format: FrameFormat<Event>,
  silence: Silence = SILENCE,
): void {
  const first = batches.next()
  settlesWithin(first, silence.beforeHeaders)
    .then((isSettled) => {
      reply.headers({
        'content-type': `${format.kind?.mediaType ?? 'text/event-stream'}; charset=utf-8`,
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      })
      const stream = framesOf(first, batches, format, reply, silence.betweenFrames)
      // Headers are sent only with the first bytes.
      if (!isSettled) stream.push(format.kind?.keepAlive ?? KEEP_ALIVE)
      reply.send(stream)
    })
    .catch((error: unknown) => sendError(error, reply.request, reply))
}

/**
 * What comes in one turn is one write, the end with it. One timer serves the whole stream, so a batch costs at most its
 * own promise.
 */
function framesOf<Event>(
  first: Promise<IteratorResult<readonly Event[]>>,
  batches: Batches<Event>,
  format: FrameFormat<Event>,
  { raw, request }: FastifyReply,
  silenceMs: number,
): Readable {
  let next: typeof first | undefined = first
  let isWaiting = false
  const stream = new Readable({
    read() {
      if (!isWaiting) void writeNext()
    },
    destroy(error, callback) {
      clearInterval(keepAlive)
      batches.return(undefined).catch((failure: unknown) => report(failure, request))
      callback(error)
    },
  })
  const keepAlive = setInterval(
    () => isWaiting && stream.push(format.kind?.keepAlive ?? KEEP_ALIVE),
    silenceMs,
  )
  return stream

  /** A write to the socket takes longer than all else that is done for a batch. */
  function holdBack(): void {
    raw.cork()
    setImmediate(() => raw.uncork())
  }

  async function writeNext(): Promise<void> {
    isWaiting = true
    keepAlive.refresh()
    try {
      const { done, value } = await (next ?? batches.next())
      next = undefined
      isWaiting = false
      holdBack()
      if (!done) return void stream.push(value.map((event) => format.encode(event)).join(''))
      stream.push(format.end)
      stream.push(null)
    } catch (error) {
      stream.push(format.encodeError(report(error, request)))
      stream.push(null)
    }
  }
}

/** Whether a client names JSON and does not prefer event streams to it (RFC 9110, section 12.5.1). */
export function prefersJson({ accept = '*/*' }: Pick<IncomingHttpHeaders, 'accept'>): boolean {
  const preferred = new Negotiator({ headers: { accept } }).mediaType(STREAM_OR_JSON)
  return preferred?.startsWith('application/json') === true
}

/** JSON as it is sent, too: some clients name its charset. */
const STREAM_OR_JSON = ['text/event-stream', 'application/json', 'application/json; charset=utf-8']
