import type { ModelEvent } from '../chat-model.ts'
import { type AnswerReader, createAnswerReader } from './answer-reader.ts'
import {
  type BodyReader,
  createIdleTimer,
  type ModelServer,
  readerOf,
  readText,
  send,
} from './connection.ts'
import { failureInStream, toUpstreamFailure, UpstreamFailure, unreadable } from './failures.ts'
import { objectOf, parseJson } from './json.ts'

/** How long the usage may come after the end of the answer. */
const USAGE_MS = 3_000
/** Of an answer from a server that does not stream. */
const MAX_WHOLE_ANSWER_BYTES = 16 * 2 ** 20

export interface ChatServer extends ModelServer {
  /** The longest silence of the server that is waited out, before the first byte too. */
  idleTimeoutMs: number
}

/**
 * One streamed call, tried once: its events as they come from the network, at each read none or more. Whoever reads
 * no more returns, which ends the call. Throws UpstreamFailure, or what `signal` was aborted with.
 */
export async function* streamAnswer(
  server: ChatServer,
  body: object,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  const idle = createIdleTimer(server.idleTimeoutMs)
  const stop = AbortSignal.any([signal, idle.signal])
  const answer = createAnswerReader()
  let batch: ModelEvent[] = []
  let reader: BodyReader | undefined
  let isRead = false
  let failure = new UpstreamFailure({ kind: 'ended-early' })
  try {
    reader = readerOf(await idle.watch(send(server, '/chat/completions', body, stop)), idle)
    const readEvents = eventReader(reader)
    while (!isRead) {
      batch = []
      isRead = takeEvents(await readEvents(), answer, batch)
      if (answer.finished) idle.limit(USAGE_MS)
      if (!isRead) yield batch
    }
  } catch (error) {
    const isStalled = idle.signal.aborted
    failure = isStalled ? new UpstreamFailure({ kind: 'timeout' }) : toUpstreamFailure(error)
  } finally {
    reader?.close(isRead && answer.finished)
  }
  // What precedes the end, or a failure, counts.
  if (batch.length > 0) yield batch
  signal.throwIfAborted()
  // An answer that has its finish reason is whole, whatever became of the connection.
  if (!answer.finished) throw failure
  yield answer.ending()
}

/** Puts the text of all events into `batch`, as one: what came together goes on together. True at the end of the answer. */
function takeEvents(
  events: readonly ServerSentEvent[],
  answer: AnswerReader,
  batch: ModelEvent[],
): boolean {
  const delta = { type: 'text-delta' as const, text: '' }
  for (const event of events) {
    if (event.data === END.data) return true
    delta.text += answer.read(toChunk(event))
    if (delta.text !== '' && batch.length === 0) batch.push(delta)
  }
  return false
}

/** Of what a chunk says of the answer; a failure is thrown. */
function toChunk({ name, data }: ServerSentEvent): unknown {
  const chunk = parseJson(data)
  if (chunk === undefined) throw unreadable('an event is not JSON')
  const error = objectOf(chunk).error || (name === 'error' && chunk)
  if (error) throw failureInStream(error)
  return chunk
}

/** What servers send last; it stands for the end of a body as well. */
const END: ServerSentEvent = { name: '', data: '[DONE]' }

/** Reads the events that have come by now. A whole answer, from a server that does not stream, is one event. */
function eventReader(reader: BodyReader): () => Promise<ServerSentEvent[]> {
  const events = createEventParser()
  let isFirst = true

  return async () => {
    const bytes = await reader.read()
    if (!bytes) return [END]
    const start = isFirst ? bytes.toString('latin1').trimStart().charAt(0) : ''
    isFirst = false
    if (start === '<') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
    if (start !== '{') return events.read(bytes)
    return [{ name: '', data: await readText(reader, MAX_WHOLE_ANSWER_BYTES, bytes) }, END]
  }
}

/** UTF-16 code units of the longest line, and of the data of one event. */
const MAX_EVENT = 8 * 2 ** 20
/** A carriage return at the very end may be the first half of a line end. */
const LINE_END = /\r\n|\n|\r(?!$)/

interface ServerSentEvent {
  name: string
  data: string
}

/** Takes server-sent events apart, from bytes that come in pieces. */
function createEventParser() {
  const decoder = new TextDecoder()
  let open = ''
  let name = ''
  let data: string[] = []
  let size = 0

  function readLine(line: string, events: ServerSentEvent[]): void {
    if (line === '') {
      const event = { name, data: data.join('\n') }
      if (event.data !== '') events.push(event)
      ;[name, data, size] = ['', [], 0]
      return
    }
    const colon = `${line}:`.indexOf(':')
    const field = line.slice(0, colon)
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') name = value
    if (field === 'data') {
      data.push(value)
      // The line end counts: empty lines are bounded, too.
      size += value.length + 1
      bound(size)
    }
  }

  return {
    /** The events that end in these bytes. Throws UpstreamFailure where one is longer than is accepted. */
    read(bytes: Uint8Array): ServerSentEvent[] {
      const text = decoder.decode(bytes, { stream: true })
      open += text
      // A long line in many pieces is looked through once.
      if (!open.endsWith('\r', open.length - text.length) && !/[\r\n]/.test(text)) {
        bound(open.length)
        return []
      }
      // Without an expression it takes half the time.
      const lines = open.split(open.includes('\r') ? LINE_END : '\n')
      open = lines.pop() ?? ''
      bound(open.length)
      const events: ServerSentEvent[] = []
      for (const line of lines) readLine(line, events)
      return events
    },
  }
}

function bound(size: number): void {
  if (size > MAX_EVENT) throw unreadable('an event longer than is accepted')
}
