import { pause } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter, type Owner } from '@agent-server/lib/limiter.ts'
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

interface LogLine {
  id: number
  line: string
}

/** As the request log writes it. */
const SUCCESSFUL_REQUEST = /^\{"level":30,.*"status":[123]\d\d,"milliseconds":/

/** What the server has done recently: the last lines of its log, and an hour of samples. */
export class Activity {
  readonly #requests: LogLine[] = []
  readonly #others: LogLine[] = []
  readonly #samples: ActivityEvent[] = []
  /** Starts at the time, so that the ids of an earlier process are smaller. */
  #lastId = Date.now()
  readonly #followers = createLimiter({
    name: 'followers of the activity',
    capacity: MAX_FOLLOWERS,
  })

  /** Takes a log line, as JSON. This makes it a stream that pino can write to. */
  write(line: string): void {
    const lines = SUCCESSFUL_REQUEST.test(line) ? this.#requests : this.#others
    lines.push({ id: this.#nextId(), line: line.length > MAX_LINE ? shorten(line) : line })
    if (lines.length > MAX_LINES) lines.shift()
  }

  /** Takes samples until the returned function is called. */
  watch(metrics: { sample(): Sample }): () => void {
    const timer = setInterval(() => this.#addSample(metrics.sample()), SAMPLE_MS).unref()
    return () => clearInterval(timer)
  }

  /**
   * Yields, in batches, the events after the one with the id `after` and, if `follow`, those that happen from now on.
   * A slow reader misses events that are no longer kept. Throws `too_many_requests`, and the reason of `signal`.
   */
  async *events(
    { after, follow }: { after: number; follow: boolean },
    owner: Owner,
    signal: AbortSignal,
  ): AsyncGenerator<ActivityEvent[]> {
    const leave = this.#followers.take(owner)
    if (!leave) {
      const message = `Too many clients follow the activity (at most ${MAX_FOLLOWERS}, shared by all keys)`
      throw new AppError('too_many_requests', message, { retryAfter: RETRY_AFTER_SECONDS })
    }
    try {
      let lastId = after > this.#lastId ? 0 : after
      let events = this.#since(lastId)
      while (follow || events.length > 0) {
        if (events.length > 0) yield events
        if (follow) await pause(FOLLOW_MS, signal)
        lastId = events.at(-1)?.id ?? lastId
        events = this.#since(lastId)
      }
    } finally {
      leave()
    }
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #addSample(sample: Sample): void {
    this.#samples.push({
      type: 'sample',
      id: this.#nextId(),
      at: new Date().toISOString(),
      ...sample,
    })
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift()
  }

  #since(id: number): ActivityEvent[] {
    const all = [...this.#requests, ...this.#others, ...this.#samples]
    return all
      .filter((one) => one.id > id)
      .toSorted((one, other) => one.id - other.id)
      .slice(0, MAX_BATCH)
      .map((one) => ('line' in one ? toEvent(one) : one))
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

function toEvent({ id, line }: LogLine): ActivityEvent {
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
