import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorBody } from '../schemas/error.ts'
import { report, sendError } from './error-handler.ts'

const KEEP_ALIVE = ': keep-alive\n\n'

/** How long a stream may be silent, in milliseconds. */
export interface Silence {
  /** Until then a failure can still become an HTTP status; after it, proxies want to see headers. */
  beforeHeaders: number
  /** Shorter than the idle limit of common proxies (nginx: 60 s, load balancers: 30 s and up). */
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
}

/**
 * Streams the events of `batches`, of which none is empty: the one place that writes them to the socket. A
 * slow reader pauses the generator. A departed one runs its `finally` blocks, which is why what it waits for
 * should end with the call's own signal. What it throws before the first batch travels as an HTTP error.
 */
export function sendEvents<Event>(
  reply: FastifyReply,
  batches: AsyncGenerator<readonly Event[]>,
  format: FrameFormat<Event>,
  silence: Silence = SILENCE,
): void {
  const first = batches.next()
  settlesWithin(first, silence.beforeHeaders)
    .then((isSettled) => {
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      })
      const frames = framesOf(first, batches, format, reply.request, silence.betweenFrames)
      // Headers leave with the first bytes only.
      if (!isSettled) frames.push(KEEP_ALIVE)
      reply.send(frames)
    })
    .catch((error: unknown) => sendError(error, reply.request, reply))
}

/** A batch is one write. One timer for the whole stream: a batch costs no more than its own promise. */
function framesOf<Event>(
  first: Promise<IteratorResult<readonly Event[]>>,
  batches: AsyncGenerator<readonly Event[]>,
  format: FrameFormat<Event>,
  request: FastifyRequest,
  silenceMs: number,
): Readable {
  let next: typeof first | undefined = first
  let isWaiting = false
  const frames = new Readable({
    read() {
      if (!isWaiting) void writeNext()
    },
    destroy(error, callback) {
      clearInterval(keepAlive)
      batches.return(undefined).catch((failure: unknown) => report(failure, request))
      callback(error)
    },
  })
  const keepAlive = setInterval(() => isWaiting && frames.push(KEEP_ALIVE), silenceMs)
  return frames

  async function writeNext(): Promise<void> {
    isWaiting = true
    keepAlive.refresh()
    try {
      const { done, value } = await (next ?? batches.next())
      next = undefined
      isWaiting = false
      frames.push(done ? format.end : value.map((event) => format.encode(event)).join(''))
      if (done) frames.push(null)
    } catch (error) {
      frames.push(format.encodeError(report(error, request)))
      frames.push(null)
    }
  }
}

function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, false)
    work.then(() => resolve(true), reject).finally(() => clearTimeout(timer))
  })
}
