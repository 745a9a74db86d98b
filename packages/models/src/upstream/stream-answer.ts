import { setImmediate as endOfTurn } from 'node:timers/promises'
import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import type { ModelEvent, ModelRequest } from '../chat-model.ts'
import type { ModelServer } from './connection.ts'
import { toUpstreamFailure, UpstreamFailure } from './failures.ts'
import type { AnswerReader, Protocol } from './protocol.ts'
import { calledTool, namesOf } from './request-parts.ts'

export interface ChatServer extends ModelServer {
  /** Idle timeout: the longest silence of the server, including that before the first byte. */
  idleTimeoutMs: number
}

export interface ModelCall {
  protocol: Protocol
  body: object
  /** What the body was built from. */
  request: ModelRequest
  /** Whether the answer is known to begin as reasoning without a mark. */
  isThinkingOpen?: boolean
  /** Called with what a whole answer told of the model. */
  onLearned?: (learned: Learned) => void
}

interface Learned {
  /** Tokens written per second. */
  speed?: number | undefined
  isThinkingOpen?: boolean | undefined
  reasoning: AnswerReader['reasoning']
}

/** How long to wait for the usage after the finish reason, and for the end of the stream after that. */
const USAGE_MS = 3_000
/** How long to wait for the end of a stream whose answer is whole. */
const DRAIN_MS = 1_000
/** How many events are read ahead of the agent before the stream waits. */
const MAX_AHEAD = 256

/**
 * Makes one call, without retries. What comes in one read from the network is yielded as one batch. Closing the
 * generator ends the call. Throws UpstreamFailure, or the abort reason of `signal`.
 */
export async function* streamAnswer(
  server: ChatServer,
  { protocol, body, request, isThinkingOpen, onLearned }: ModelCall,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  const { stop } = request.sampling
  const answer = protocol.createReader({ offered: searchedFor(request), isThinkingOpen, stop })
  const writing = createWritingTime()
  let failure: UpstreamFailure | undefined
  try {
    for await (const events of receive(server, { protocol, body, answer }, signal)) {
      writing.note(events)
      yield events
    }
  } catch (error) {
    failure = toUpstreamFailure(error)
  }
  const rest = joined(answer.rest())
  if (rest.length > 0) yield rest
  signal.throwIfAborted()
  // An answer with a finish reason is whole, even if the connection failed afterwards.
  if (!answer.finished && !isWholeWithoutReason(server, answer)) {
    throw failure ?? new UpstreamFailure({ kind: 'ended-early' })
  }
  if (answer.finished) givesReasons.set(server, true)
  const ending = answer.ending()
  onLearned?.({
    speed: answer.speed ?? speedOf(ending, writing.milliseconds()),
    isThinkingOpen: answer.wasThinkingOpen,
    reasoning: answer.reasoning,
  })
  yield ending.map((event) => withCalledTool(event, request))
}

function withCalledTool(event: ModelEvent, { tools }: ModelRequest): ModelEvent {
  if (event.type !== 'tool-call') return event
  return { ...event, call: { ...event.call, name: calledTool(tools, event.call.name) } }
}

/** Which servers give finish reasons, as far as is known. */
const givesReasons = new WeakMap<ChatServer, boolean>()

/**
 * Whether an answer that lacks a finish reason is whole: from the second one on, of a server that has never given any.
 * Others lose it with the rest of the answer.
 */
function isWholeWithoutReason(server: ChatServer, answer: AnswerReader): boolean {
  if (!answer.endsWithMark) return false
  const known = givesReasons.get(server)
  givesReasons.set(server, known ?? false)
  return known === false
}

/** Sends the request and reads its answer in batches; ends the call in any case. */
async function* receive(
  server: ChatServer,
  { protocol, body, answer }: Pick<ModelCall, 'protocol' | 'body'> & { answer: AnswerReader },
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  const waits = limitWaits(server, answer, signal)
  const call = new AbortController()
  const connection = await protocol.connect(server)
  const sendInTime = (stop: AbortSignal) => {
    stop.addEventListener('abort', () => call.abort(stop.reason), { once: true })
    return connection.send(body, { signal: call.signal, onArrival: waits.renew })
  }
  let isEnded = false
  try {
    const ahead = readAhead(await waits.inTime(sendInTime))
    while (!isEnded && !answer.closed) {
      const next = await waits.inTime(ahead.next)
      isEnded = next.isEnded
      const { events, error } = readEach(next.events, answer)
      if (events.length > 0) {
        waits.begin()
        yield events
      }
      if (error !== undefined) throw error
    }
  } finally {
    // What little may follow a whole answer is read, so that its connection can be used again.
    if (!answer.closed && !isEnded) call.abort()
    else if (!isEnded) setTimeout(() => call.abort(), DRAIN_MS).unref()
  }
}

/** What the events say up to one that cannot be read, or reports an error. */
function readEach(events: readonly unknown[], answer: AnswerReader) {
  const read: ModelEvent[] = []
  try {
    for (const event of events) read.push(...answer.read(event))
    return { events: joined(read) }
  } catch (error) {
    return { events: joined(read), error: toUpstreamFailure(error) }
  }
}

/**
 * Reads events as they come, up to a bound, and hands them over in batches: what came in one read from the network is
 * ready by the end of the turn of the event loop in which the first of it is.
 */
function readAhead(events: AsyncIterable<unknown>) {
  let ready: unknown[] = []
  let ended: { error?: unknown } | undefined
  let arrival = Promise.withResolvers<void>()
  let room = Promise.withResolvers<void>()

  const readAll = async () => {
    try {
      for await (const event of events) {
        ready.push(event)
        arrival.resolve()
        if (ready.length >= MAX_AHEAD) await room.promise
      }
      ended = {}
    } catch (error) {
      ended = { error }
    }
    arrival.resolve()
  }
  // It keeps its error itself.
  void readAll()

  return {
    /** The next batch. Throws the error of the stream after its last batch, or the reason of `stop`. */
    async next(stop: AbortSignal): Promise<{ events: unknown[]; isEnded: boolean }> {
      await untilAborted(arrival.promise, stop)
      await endOfTurn()
      const batch = ready
      ready = []
      if (batch.length === 0 && ended && 'error' in ended) throw ended.error
      room.resolve()
      room = Promise.withResolvers()
      if (!ended) arrival = Promise.withResolvers()
      return { events: batch, isEnded: ended !== undefined && !('error' in ended) }
    },
  }
}

/** How long a call may wait while the server answers others. */
const QUEUE_MS = 600_000
/** What renews the deadlines of the calls that wait for each server's first word. */
const queues = new WeakMap<ChatServer, Set<() => void>>()

/**
 * Limits each wait for the server; those between them do not count, as a slow reader is not a stalled server. Before the
 * first word, a server that answers other calls is not silent: many local ones answer one after the other.
 */
function limitWaits(
  server: ChatServer,
  answer: Pick<AnswerReader, 'finished'>,
  signal: AbortSignal,
) {
  const queue = queues.get(server) ?? new Set()
  queues.set(server, queue)
  const leaveQueueAt = performance.now() + QUEUE_MS
  let isQueued = true
  let renewCurrent: (() => void) | undefined
  const limit = () =>
    answer.finished ? Math.min(server.idleTimeoutMs, USAGE_MS) : server.idleTimeoutMs

  return {
    async inTime<Result>(work: (stop: AbortSignal) => Promise<Result>): Promise<Result> {
      using deadline = startDeadline(limit(), signal)
      const renew = () => {
        if (performance.now() < leaveQueueAt) deadline.renew()
      }
      if (isQueued) queue.add(renew)
      renewCurrent = deadline.renew
      try {
        return await work(deadline.signal)
      } catch (error) {
        signal.throwIfAborted()
        throw deadline.isOver ? new UpstreamFailure({ kind: 'timeout' }) : error
      } finally {
        queue.delete(renew)
      }
    },
    /** To be called when anything arrives. */
    renew: () => renewCurrent?.(),
    /** To be called with each part of the answer. */
    begin(): void {
      isQueued = false
      for (const renew of queue) renew()
    },
  }
}

/** The tools whose calls are looked for in the text: none in JSON, which is the client's whatever it looks like. */
function searchedFor({ tools, sampling }: ModelRequest): ReadonlySet<string> {
  return new Set(sampling.format ? [] : tools.flatMap(namesOf))
}

/** Makes one event of neighbouring texts. */
function joined(events: readonly ModelEvent[]): ModelEvent[] {
  const result: ModelEvent[] = []
  for (const event of events) {
    const last = result.at(-1)
    const isText = event.type === 'text-delta' || event.type === 'reasoning-delta'
    if (isText && last?.type === event.type) {
      result.splice(-1, 1, { ...event, text: last.text + event.text })
    } else {
      result.push(event)
    }
  }
  return result
}

/** Measures the time from the first part of the answer to the last. */
function createWritingTime() {
  let begunAt: number | undefined
  let lastAt = 0
  return {
    note(events: readonly ModelEvent[]): void {
      if (events.every(({ type }) => type === 'progress')) return
      lastAt = performance.now()
      begunAt ??= lastAt
    },
    milliseconds: () => (begunAt === undefined ? 0 : lastAt - begunAt),
  }
}

/** Answers that are shorter, in tokens or time, say nothing of the speed. */
const MIN_TOKENS = 8
const MIN_MS = 50

function speedOf(ending: readonly ModelEvent[], milliseconds: number): number | undefined {
  const end = ending.at(-1)
  const tokens = end?.type === 'finish' ? (end.usage?.completionTokens ?? 0) : 0
  return tokens < MIN_TOKENS || milliseconds < MIN_MS ? undefined : (tokens * 1_000) / milliseconds
}
