import type { Shortcut } from '../../lib/shortcut.ts'
import { parseJson } from '../../lib/text/json.ts'
import type { ModelEvent } from '../chat-model.ts'
import { type AnswerReader, createAnswerReader } from './answer-reader.ts'
import { type BodyReader, createIdleTimer, readerOf, readText } from './body-reader.ts'
import { type ModelServer, send } from './connection.ts'
import { createEventParser, type EventParser, type ServerSentEvent } from './events.ts'
import { failureInStream, toUpstreamFailure, UpstreamFailure, unreadable } from './failures.ts'
import { objectOf } from './json.ts'

/** How long the usage may come after the end of the answer. */
const USAGE_MS = 3_000
/** Of an answer from a server that does not stream. */
const MAX_WHOLE_ANSWER_BYTES = 16 * 2 ** 20

export interface ChatServer extends ModelServer {
  /** The longest silence of the server that is waited out, before the first byte too. */
  idleTimeoutMs: number
}

/**
 * One streamed call, tried once: its events as they come from the network, as one batch what came at one read. Whoever
 * reads no more returns, which ends the call. Throws UpstreamFailure, or what `signal` was aborted with.
 */
export async function* streamAnswer(
  server: ChatServer,
  body: Buffer,
  shortcut: Shortcut<string> | undefined,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  using idle = createIdleTimer(server.idleTimeoutMs, signal)
  const answer = createAnswerReader()
  /** What has come and was not given on. */
  let text = ''
  let reader: BodyReader | undefined
  let isBegun = false
  let isRead = false
  let failure: UpstreamFailure | undefined

  const take = (event: ServerSentEvent, parser?: EventParser): void => {
    if (event.data === END) isRead = true
    else if (!isRead) text += event.text ?? readChunk(event, answer, parser)
  }
  /** What came together goes on together. */
  const release = (): string => {
    const said = text
    text = ''
    return said
  }
  /** Answers whether there is something to go through the generators: text goes past them once it has begun. */
  const goOn = (): true | undefined => {
    if (answer.finished) idle.limit(USAGE_MS)
    if (isRead) return true
    if (text === '') return undefined
    if (!isBegun || !shortcut?.isOpen()) return true
    shortcut.take(release())
    return undefined
  }

  try {
    reader = readerOf(await idle.watch(send(server, '/chat/completions', body, idle.signal)), idle)
    const readOn = await eventReader(reader, take, goOn)
    while (!isRead) {
      isRead = !(await readOn()) || isRead
      if (isRead) break
      yield [{ type: 'text-delta', text: release() }]
      isBegun = true
    }
  } catch (error) {
    failure = idle.isOver ? new UpstreamFailure({ kind: 'timeout' }) : toUpstreamFailure(error)
  } finally {
    reader?.close(isRead && answer.finished)
  }
  // What precedes the end, or a failure, counts.
  if (text !== '') yield [{ type: 'text-delta', text }]
  signal.throwIfAborted()
  // An answer that has its finish reason is whole, whatever became of the connection.
  if (!answer.finished) throw failure ?? new UpstreamFailure({ kind: 'ended-early' })
  yield answer.ending()
}

/** The text of a chunk. A failure is thrown. */
function readChunk(
  { name, data }: ServerSentEvent,
  answer: AnswerReader,
  parser: EventParser | undefined,
): string {
  const chunk = parseJson(data)
  if (chunk === undefined) throw unreadable('an event is not JSON')
  const error = objectOf(chunk).error || (name === 'error' && chunk)
  if (error) throw failureInStream(error)
  const text = answer.read(chunk)
  if (name === '') parser?.learn(data, chunk)
  return text
}

/** The data of what servers send last; it stands for the end of a body as well. */
const END = '[DONE]'

/**
 * Reads the first bytes; what it gives reads on, and gives `take` all events, until `goOn` says that there is something.
 * It answers nothing at the end of the body. A whole answer, from a server that does not stream, is one event.
 */
async function eventReader(
  reader: BodyReader,
  take: (event: ServerSentEvent, parser?: EventParser) => void,
  goOn: () => true | undefined,
): Promise<() => Promise<true | undefined>> {
  const first = await reader.read((bytes) => bytes)
  const start = first?.toString('latin1').trimStart().charAt(0)
  if (start === '<') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
  if (start === '{') {
    const data = await readText(reader, MAX_WHOLE_ANSWER_BYTES, first)
    return async () => {
      take({ name: '', data })
      take({ name: '', data: END })
      return goOn()
    }
  }
  const parser = createEventParser()
  const takeParsed = (event: ServerSentEvent) => take(event, parser)
  const read = (bytes: Buffer) => {
    parser.read(bytes, takeParsed)
    return goOn()
  }
  let waiting = first
  return async () => {
    const made = waiting && read(waiting)
    waiting = undefined
    return made ?? reader.read(read)
  }
}
