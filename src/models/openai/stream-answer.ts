import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import { untilAborted, withDeadline } from '../../lib/abort.ts'
import { ignore } from '../../lib/ignore.ts'
import { objectOf, parseJson } from '../../lib/text/json.ts'
import type { ModelEvent, ModelRequest } from '../chat-model.ts'
import { createAnswerReader } from './answer-reader.ts'
import { clientOf, type ModelServer } from './connection.ts'
import { failureInStream, toUpstreamFailure, UpstreamFailure, unreadable } from './failures.ts'
import { createEventParser, type ServerSentEvent } from './server-sent-events.ts'

export interface ChatServer extends ModelServer {
  /** Idle timeout: the longest silence of the server, including that before the first byte. */
  idleTimeoutMs: number
}

interface ModelCall {
  body: ChatCompletionCreateParamsStreaming
  /** What the body was built from. */
  request: ModelRequest
  /** Called with the tokens written per second, if that is known. */
  onSpeed?: (speed: number) => void
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
  { body, request, onSpeed }: ModelCall,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  const answer = createAnswerReader({ offered: searchedFor(request) })
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
  if (speed !== undefined) onSpeed?.(speed)
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
  const inTime = limitWaits(server, answer, signal)
  const send = (stop: AbortSignal) => completions.create(body, { signal: stop }).asResponse()
  const reader = (await inTime(send)).body?.getReader()
  if (!reader) return
  try {
    while (!received.isRead) {
      const next = reader.read()
      received.take(await inTime((stop) => untilAborted(next, stop)))
      if (received.hasEvents) yield received.release()
    }
  } finally {
    void drain(reader, received.isRead && answer.finished ? DRAIN_MS : 0)
  }
}

type AnswerReader = ReturnType<typeof createAnswerReader>

/** Limits each wait for the server; those between them do not count, as a slow reader is not a stalled server. */
function limitWaits(
  { idleTimeoutMs }: ChatServer,
  answer: Pick<AnswerReader, 'finished'>,
  signal: AbortSignal,
) {
  const late = () => new UpstreamFailure({ kind: 'timeout' })
  return <Result>(work: (stop: AbortSignal) => Promise<Result>) => {
    const limit = answer.finished ? Math.min(idleTimeoutMs, USAGE_MS) : idleTimeoutMs
    return withDeadline(limit, work, late, signal)
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
