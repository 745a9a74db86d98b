import { pause } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import {
  type ActivityEvent,
  RequestEvent,
  RunEvent,
  type Sample,
} from '@agent-server/schemas/operator/ops.ts'
import { z } from 'zod'

/**
 * How many successful requests are kept, and how many other log lines, which such requests never push out; of how many
 * characters each, and a longer line loses its details.
 */
const MAX_LINES = 1_000
const MAX_LINE = 8_000
/** Together, an hour. */
const SAMPLE_MS = 10_000
const MAX_SAMPLES = 360
const MAX_FOLLOWERS = 16
/** Events within this interval are sent in one batch, of at most `MAX_BATCH`. */
const FOLLOW_MS = 250
const MAX_BATCH = 500
const RETRY_AFTER_SECONDS = 10

export type Activity = ReturnType<typeof createActivity>

interface KeptLine {
  id: number
  line: string
}

/** As the request log writes it. */
const SUCCESSFUL_REQUEST = /^\{"level":30,.*"status":[123]\d\d,"milliseconds":/

/** What the server has done recently: the last lines of its log, and an hour of samples. */
export function createActivity() {
  const requests: KeptLine[] = []
  const others: KeptLine[] = []
  const samples: ActivityEvent[] = []
  // Starts at the time, so that the ids of an earlier process are smaller.
  let last = Date.now()
  let followers = 0

  function since(id: number): ActivityEvent[] {
    const all = [...requests, ...others, ...samples].filter((kept) => kept.id > id)
    return all
      .toSorted((one, other) => one.id - other.id)
      .slice(0, MAX_BATCH)
      .map((kept) => ('line' in kept ? toEvent(kept) : kept))
  }

  async function* read(after: number, follow: boolean, signal: AbortSignal) {
    let lastId = after > last ? 0 : after
    let events = since(lastId)
    while (follow || events.length > 0) {
      if (events.length > 0) yield events
      if (follow) await pause(FOLLOW_MS, signal)
      lastId = events.at(-1)?.id ?? lastId
      events = since(lastId)
    }
  }

  function sample(newSample: Sample): void {
    last += 1
    samples.push({ type: 'sample', id: last, at: new Date().toISOString(), ...newSample })
    if (samples.length > MAX_SAMPLES) samples.shift()
  }

  return {
    /** Takes a log line, as JSON. This makes it a stream that pino can write to. */
    write(line: string): void {
      last += 1
      const lines = SUCCESSFUL_REQUEST.test(line) ? requests : others
      lines.push({ id: last, line: line.length > MAX_LINE ? shorten(line) : line })
      if (lines.length > MAX_LINES) lines.shift()
    },

    /** Takes samples until the returned function is called. */
    watch(metrics: { sample(): Sample }): () => void {
      const timer = setInterval(() => sample(metrics.sample()), SAMPLE_MS).unref()
      return () => clearInterval(timer)
    },

    /**
     * Yields, in batches, the events after the one with the id `after` and, if `follow`, those that happen from now on.
     * A slow reader misses events that are no longer kept. Throws `too_much_at_once`, and the reason of `signal`.
     */
    async *events(
      { after, follow }: { after: number; follow: boolean },
      signal: AbortSignal,
    ): AsyncGenerator<ActivityEvent[]> {
      if (followers >= MAX_FOLLOWERS) {
        const message = `${MAX_FOLLOWERS} clients already follow the activity`
        throw new AppError('too_much_at_once', message, { retryAfter: RETRY_AFTER_SECONDS })
      }
      followers += 1
      try {
        yield* read(after, follow, signal)
      } finally {
        followers -= 1
      }
    },
  }
}

/** What this server reads of its own log lines. */
const Line = z.looseObject({
  level: z.number(),
  time: z.union([z.string(), z.number()]),
  msg: z.string().default(''),
  reqId: z.string().optional(),
})
const RequestFields = RequestEvent.omit({ id: true, at: true, type: true, operation: true })
const RunFields = RunEvent.omit({ id: true, at: true, type: true })

function shorten(line: string): string {
  const { level, time, msg, reqId } = Line.parse(JSON.parse(line))
  return JSON.stringify({ level, time, reqId, msg: msg.slice(0, MAX_LINE / 2), cut: true })
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

function toEvent({ id, line }: { id: number; line: string }): ActivityEvent {
  const {
    level,
    time,
    msg,
    reqId,
    pid: _pid,
    hostname: _host,
    ...details
  } = Line.parse(JSON.parse(line))
  const event = { id, at: new Date(time).toISOString(), ...(reqId && { requestId: reqId }) }
  const request = RequestFields.safeParse(details).data
  if (request) return { ...event, ...request, type: 'request', operation: msg }
  const run = RunFields.safeParse(details).data
  if (run) return { ...event, ...run, type: 'run' }
  const name = LEVELS[Math.floor(level / 10) - 1] ?? 'info'
  return { ...event, type: 'log', level: name, message: msg, details }
}
