import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
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
export interface Dialect<Event> {
  encode(event: Event): string
  /** The frame that tells a failure; it is the last one. */
  encodeError(body: ErrorBody): string
  /** Written after the last event of a stream that did not fail. */
  end: string
}

/**
 * Streams `events`. Back-pressure comes from `Readable.from`: a slow reader pauses the generator. A departed
 * reader runs its `finally` blocks, which is why what it waits for should end with the call's own signal.
 * What it throws before the first event travels as an HTTP error.
 */
export function sendEvents<Event>(
  reply: FastifyReply,
  events: AsyncGenerator<Event>,
  dialect: Dialect<Event>,
  silence: Silence = SILENCE,
): void {
  const first = events.next()
  const patience = createPatience(silence.beforeHeaders)
  patience
    .settles(first)
    .finally(patience.end)
    .then((settled) => {
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      })
      // Headers leave with the first bytes only.
      const opening = settled ? '' : KEEP_ALIVE
      const frames = Readable.from(write(reply, { events, first, dialect, opening, silence }))
      // Not in a `finally` of `write`, which never runs where the reader left before the first read.
      frames.once('close', () => {
        events.return(undefined).catch((error: unknown) => report(error, reply.request))
      })
      reply.send(frames)
    })
    .catch((error: unknown) => sendError(error, reply.request, reply))
}

interface Writing<Event> {
  events: AsyncGenerator<Event>
  first: Promise<IteratorResult<Event>>
  dialect: Dialect<Event>
  opening: string
  silence: Silence
}

async function* write<Event>(
  reply: FastifyReply,
  { events, first, dialect, opening, silence }: Writing<Event>,
): AsyncGenerator<string> {
  const patience = createPatience(silence.betweenFrames)
  let next = first
  try {
    if (opening) yield opening
    for (;;) {
      while (!(await patience.settles(next))) yield KEEP_ALIVE
      const { done, value } = await next
      if (done) break
      yield dialect.encode(value)
      next = events.next()
    }
    yield dialect.end
  } catch (error) {
    yield dialect.encodeError(report(error, reply.request))
  } finally {
    patience.end()
  }
}

/** Waits for one promise after another, each for the same time, with one timer for all: a stream waits thousands of times. */
interface Patience {
  /** Whether `promise` settled in time; a rejection is thrown. One promise at a time. */
  settles(promise: Promise<unknown>): Promise<boolean>
  /** Nothing more is waited for. */
  end(): void
}

export function createPatience(milliseconds: number): Patience {
  let giveUp: (() => void) | undefined
  const timer = setTimeout(() => giveUp?.(), milliseconds)

  return {
    settles(promise) {
      timer.refresh()
      return new Promise((resolve, reject) => {
        giveUp = () => resolve(false)
        promise.then(() => resolve(true), reject)
      })
    },
    end: () => clearTimeout(timer),
  }
}
