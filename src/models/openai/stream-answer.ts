import { startDeadline, untilAborted, withDeadline } from '@agent-server/lib/abort.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { objectOf, parseJson } from '@agent-server/lib/text/json.ts'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ModelEvent, ModelRequest } from '../chat-model.ts'
import { createAnswerReader } from './answer-reader.ts'
import { clientOf, type ModelServer } from './connection.ts'
import { failureInStream, toUpstreamFailure, UpstreamFailure, unreadable } from './failures.ts'
import { createEventParser, type ServerSentEvent } from './server-sent-events.ts'

export interface ChatServer extends ModelServer {
  /** Idle timeout: the longest silence of the server, including that before the first byte. */
  idleTimeoutMs: number
}

export interface ModelCall {
  body: ChatCompletionCreateParamsStreaming
  /** What the body was built from. */
  request: ModelRequest
  /** Whether the answer is known to begin as thinking without a mark. */
  isThinkingOpen?: boolean
  /** Called with what a whole answer told of the model. */
  onLearned?: (learned: Learned) => void
}

interface Learned {
  /** Tokens written per second. */
  speed?: number | undefined
  isThinkingOpen?: boolean | undefined
}

/** How long to wait for the usage after the finish reason. */
const USAGE_MS = 3_000
/** How long to wait for the end of a body whose answer is complete before the connection is closed. */
const DRAIN_MS = 1_000
/** The data of the last event of a stream; some servers just end the body. */
const END = '[DONE]'

/**
 * Makes one call, without retries: reads bytes, parses them into server-sent events (server-sent-events.ts) and
 * interprets the chunk in each (answer-reader.ts). Each read from the network yields at most one batch. Closing the
 * generator ends the call. Throws UpstreamFailure, or the abort reason of `signal`.
 */
export async function* streamAnswer(
  server: ChatServer,
  { body, request, isThinkingOpen, onLearned }: ModelCall,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  const answer = createAnswerReader({ offered: searchedFor(request), isThinkingOpen })
  const received = createReceiver(answer)
  let failure: UpstreamFailure | undefined
  try {
    yield* receive(server, body, { answer, received }, signal)
  } catch (error) {
    failure = toUpstreamFailure(error)
  }
  // What was received before the end or a failure is still passed on.
  received.finish()
  if (received.hasEvents) yield received.release()
  signal.throwIfAborted()
  // An answer with a finish reason is whole, even if the connection failed afterwards.
  if (!answer.finished) throw failure ?? new UpstreamFailure({ kind: 'ended-early' })
  const ending = answer.ending()
  const speed = answer.speed ?? speedOf(ending, received.writingMs)
  onLearned?.({ speed, isThinkingOpen: answer.wasThinkingOpen })
  yield ending
}

/** Sends the request and reads its answer; ends the call in any case. */
async function* receive(
  server: ChatServer,
  body: ChatCompletionCreateParamsStreaming,
  { answer, received }: { answer: AnswerReader; received: ReturnType<typeof createReceiver> },
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  const { completions } = (await clientOf(server)).chat
  const waits = limitWaits(server, answer, signal)
  const send = (stop: AbortSignal) => completions.create(body, { signal: stop }).asResponse()
  const reader = (await waits.inTime(send)).body?.getReader()
  if (!reader) return
  try {
    while (!received.isRead) {
      const next = reader.read()
      received.take(await waits.inTime((stop) => untilAborted(next, stop)))
      if (!received.hasEvents) continue
      waits.begin()
      yield received.release()
    }
  } finally {
    void drain(reader, received.isRead && answer.finished ? DRAIN_MS : 0)
  }
}

type AnswerReader = ReturnType<typeof createAnswerReader>

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
  const limit = () =>
    answer.finished ? Math.min(server.idleTimeoutMs, USAGE_MS) : server.idleTimeoutMs

  return {
    async inTime<Result>(work: (stop: AbortSignal) => Promise<Result>): Promise<Result> {
      using deadline = startDeadline(limit(), signal)
      const renew = () => {
        if (performance.now() < leaveQueueAt) deadline.renew()
      }
      if (isQueued) queue.add(renew)
      try {
        return await work(deadline.signal)
      } catch (error) {
        signal.throwIfAborted()
        throw deadline.isOver ? new UpstreamFailure({ kind: 'timeout' }) : error
      } finally {
        queue.delete(renew)
      }
    },
    /** To be called with each part of the answer. */
    begin(): void {
      isQueued = false
      for (const renew of queue) renew()
    },
  }
}

/** Turns what is read from the network into events. */
function createReceiver(answer: AnswerReader) {
  const parser = createEventParser()
  let events: ModelEvent[] = []
  let isRead = false
  let readAt = 0
  let writingMs = 0

  const takeEvent = ({ name, data }: ServerSentEvent): void => {
    isRead ||= data === END
    if (isRead) return
    const chunk = parseJson(data)
    if (chunk === undefined) throw unreadable('an event is not JSON')
    const error = objectOf(chunk).error || (name === 'error' && chunk)
    if (error) throw failureInStream(error)
    events.push(...answer.read(chunk))
  }

  return {
    /** Throws UpstreamFailure if the answer is invalid or reports an error. */
    take({ done, value }: Awaited<ReturnType<BodyReader['read']>>): void {
      const now = performance.now()
      if (readAt > 0) writingMs += now - readAt
      for (const event of done ? parser.end() : parser.read(value)) takeEvent(event)
      isRead ||= done
      if (readAt > 0 || events.some(({ type }) => type !== 'progress')) readAt = now
    },
    /** Takes what was held back, since no more will come. */
    finish: () => void events.push(...answer.rest()),
    release(): ModelEvent[] {
      const released = joined(events)
      events = []
      return released
    },
    get hasEvents() {
      return events.length > 0
    },
    /** Whether the answer is complete. */
    get isRead() {
      return isRead
    },
    /** The time from the first event of the answer to the last. */
    get writingMs() {
      return writingMs
    },
  }
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>

/** The tools whose calls are looked for in the text: none in JSON, which is the client's whatever it looks like. */
function searchedFor({ tools, sampling }: ModelRequest): ReadonlySet<string> {
  return new Set(sampling.responseFormat ? [] : tools.map(({ name }) => name))
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

/** Answers that are shorter, in tokens or time, say nothing of the speed. */
const MIN_TOKENS = 8
const MIN_MS = 50

function speedOf(ending: readonly ModelEvent[], milliseconds: number): number | undefined {
  const end = ending.at(-1)
  const tokens = end?.type === 'finish' ? (end.usage?.completionTokens ?? 0) : 0
  return tokens < MIN_TOKENS || milliseconds < MIN_MS ? undefined : (tokens * 1_000) / milliseconds
}

/** Reads what little may follow, for so long, so that the connection can be used again; else closes it. */
async function drain(reader: BodyReader, milliseconds: number): Promise<void> {
  const rest = async (stop: AbortSignal) => {
    for (let isDone = false; !isDone; ) isDone = (await untilAborted(reader.read(), stop)).done
  }
  const late = () => new UpstreamFailure({ kind: 'timeout' })
  await withDeadline(milliseconds, rest, late).catch(() =>
    ignore(reader.cancel(), 'the connection is broken already'),
  )
}
