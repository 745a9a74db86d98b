import { createRest, piecesOf, SHORT_PIECE } from '@agent-server/lib/text/slices.ts'
import type { ModelEvent, ModelRequest } from '../chat-model.ts'
import { AnswerBody } from './answer-body.ts'
import { askForAnswer, type ModelServer } from './connection.ts'
import { toUpstreamFailure, UpstreamFailure } from './failures.ts'
import { Patience } from './patience.ts'
import type { AnswerReader, Protocol } from './protocol.ts'
import { calledTool, namesOf } from './request-parts.ts'
import { EventReader, isEnd, jsonOf, type ServerSentEvent } from './server-sent-events.ts'

export interface ChatServer extends ModelServer {
  /** Idle timeout: the longest silence of the server, including that before the first byte. */
  idleTimeoutMs: number
}

export interface ModelCallOptions {
  protocol: Protocol
  body: object
  /** What the body was built from. */
  request: ModelRequest
  /** Whether the answer begins as reasoning without a mark; undefined if that is not known. */
  isThinkingOpen?: boolean | undefined
}

/** The properties of the model that a whole answer revealed. */
export interface Learned {
  /** Tokens written per second. */
  speed: number | undefined
  isThinkingOpen: boolean | undefined
  /** In which form the model's reasoning came. */
  reasoning: 'text' | 'summary' | 'none'
}

/** How long to wait for the usage after the finish reason, and for the end of the stream after that. */
const USAGE_MS = 3_000

/** Which servers give finish reasons, as far as is known. */
const givesReasons = new WeakMap<ChatServer, boolean>()

/** One call of a model, without retries. Must be closed. */
export class ModelCall implements Disposable {
  readonly #server: ChatServer
  readonly #options: ModelCallOptions
  readonly #signal: AbortSignal
  readonly #answer: AnswerReader
  readonly #patience: Patience
  readonly #events = new EventReader()
  readonly #writing = new WritingTime()
  #body: AnswerBody | undefined
  #hasEndMark = false
  #isRead = false
  #failure: UpstreamFailure | undefined
  #learned: Learned | undefined
  /** What is left of a long text: whoever reads it is to leave others their turn. */
  #pieces: ModelEvent[][] = []
  readonly #rest: ReturnType<typeof createRest>

  constructor(server: ChatServer, options: ModelCallOptions, signal: AbortSignal) {
    const { protocol, request, isThinkingOpen } = options
    const { stop } = request.sampling
    this.#server = server
    this.#options = options
    this.#signal = signal
    this.#rest = createRest(signal)
    this.#patience = new Patience(server, signal)
    this.#answer = protocol.createReader({ offered: searchedFor(request), isThinkingOpen, stop })
  }

  /** Known once the answer is whole. */
  get learned(): Learned | undefined {
    return this.#pieces.length > 0 ? undefined : this.#learned
  }

  /**
   * The events that came in one read of the network, if any, and of long texts a piece; undefined after the last of them.
   * Throws UpstreamFailure, or the signal's reason, once what came before was returned.
   */
  async next(): Promise<ModelEvent[] | undefined> {
    if (this.#pieces.length > 0) {
      await this.#rest()
      return this.#pieces.shift()
    }
    const events = await this.#nextRead()
    if (!events?.some(isLong)) return events
    this.#pieces = inPieces(events)
    return this.#pieces.shift()
  }

  async #nextRead(): Promise<ModelEvent[] | undefined> {
    if (this.#learned) return undefined
    let events: ModelEvent[] = []
    if (!this.#isRead) {
      events = joined(await this.#read())
      if (!this.#isRead) return events
      events = joined([...events, ...this.#answer.text.rest()])
      const ending = this.#signal.aborted ? [] : this.#end()
      if (this.#learned || events.length > 0) return [...events, ...ending]
    }
    this.#signal.throwIfAborted()
    throw this.#failure ?? new UpstreamFailure({ kind: 'ended-early' })
  }

  [Symbol.dispose](): void {
    const isDone = this.#isRead && !this.#failure
    this.#body?.close(isDone)
    this.#patience.end(isDone)
  }

  /** Reads on; an end of whatever kind is noted. */
  async #read(): Promise<ModelEvent[]> {
    const events: ModelEvent[] = []
    const patience = this.#patience
    try {
      if (this.#answer.finished) patience.limit(USAGE_MS)
      this.#body ??= await patience.wait(this.#send())
      const bytes = await patience.wait(this.#body.read())
      await this.#addTo(events, bytes ? this.#events.read(bytes) : this.#events.end())
      this.#isRead = !bytes || this.#hasEndMark || this.#answer.closed
    } catch (error) {
      this.#isRead = true
      this.#failure = patience.isOver
        ? new UpstreamFailure({ kind: 'timeout' })
        : toUpstreamFailure(error)
    }
    if (events.length > 0) patience.begin()
    this.#writing.note(events)
    return events
  }

  /** Adds what is sent, and leaves others a turn between the pieces of a long text. */
  async #addTo(events: ModelEvent[], sent: readonly ServerSentEvent[]): Promise<void> {
    for (const event of sent) {
      this.#hasEndMark = isEnd(event.data)
      if (this.#hasEndMark) return
      for (const part of this.#answer.read(jsonOf(event))) {
        const rest = events.push(part) > 1 && this.#rest()
        if (rest) await rest
      }
    }
  }

  async #send(): Promise<AnswerBody> {
    const { protocol, body } = this.#options
    const { signal, renew } = this.#patience
    return new AnswerBody(await askForAnswer(this.#server, protocol, body, signal), renew)
  }

  /**
   * An answer with a finish reason is whole, even if the connection failed afterwards. One that lacks it is whole from
   * the second one on, of a server that has never given any. Others lose it with the rest of the answer.
   */
  #looksWhole(): boolean {
    const { finished, isComplete = false } = this.#answer
    const givesReason = givesReasons.get(this.#server)
    if (finished) givesReasons.set(this.#server, true)
    if (finished || !isComplete || !this.#hasEndMark) return finished
    givesReasons.set(this.#server, givesReason ?? false)
    return givesReason === false
  }

  /** The final events of a whole answer. */
  #end(): ModelEvent[] {
    if (!this.#looksWhole()) return []
    try {
      const { tools } = this.#options.request
      const ending = this.#answer.ending().map((event) => withCalledTool(event, tools))
      const { speed = this.#writing.speedOf(ending), text, isSummary } = this.#answer
      const reasoning = isSummary ? 'summary' : text.hasThought ? 'text' : 'none'
      this.#learned = { speed, isThinkingOpen: text.wasThinkingOpen, reasoning }
      return ending
    } catch (error) {
      this.#failure = toUpstreamFailure(error)
      return []
    }
  }
}

/** The tools whose calls are looked for in the text: none in JSON, which is the client's whatever it looks like. */
function searchedFor({ tools, sampling }: ModelRequest): ReadonlySet<string> {
  return new Set(sampling.format ? [] : tools.flatMap(namesOf))
}

function withCalledTool(event: ModelEvent, tools: ModelRequest['tools']): ModelEvent {
  if (event.type !== 'tool-call') return event
  return { ...event, call: { ...event.call, name: calledTool(tools, event.call.name) } }
}

/** Makes one event of neighbouring texts. */
function joined(events: readonly ModelEvent[]): ModelEvent[] {
  const result: ModelEvent[] = []
  for (const event of events) {
    const last = result.at(-1)
    const isText = event.type === 'text-delta' || event.type === 'reasoning-delta'
    if (isText && last?.type === event.type) {
      result[result.length - 1] = { ...event, text: last.text + event.text }
    } else {
      result.push(event)
    }
  }
  return result
}

function isLong(event: ModelEvent): event is Extract<ModelEvent, { type: 'text-delta' }> {
  return event.type === 'text-delta' && event.text.length > SHORT_PIECE
}

/** The events with a long text cut; those after its last piece stay with it. */
function inPieces(events: ModelEvent[]): ModelEvent[][] {
  const batches: ModelEvent[][] = [[]]
  for (const event of events) {
    const pieces = isLong(event)
      ? Array.from(piecesOf(event.text, SHORT_PIECE), (text) => ({ ...event, text }))
      : [event]
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) batches.push([])
      batches.at(-1)?.push(piece)
    }
  }
  return batches
}

/** Answers that are shorter, in tokens or time, say nothing of the speed. */
const MIN_TOKENS = 8
const MIN_MS = 50

/** The time from the first part of the answer to the last. */
class WritingTime {
  #begunAt: number | undefined
  #lastAt = 0

  note(events: readonly ModelEvent[]): void {
    if (events.every(({ type }) => type === 'progress')) return
    this.#lastAt = performance.now()
    this.#begunAt ??= this.#lastAt
  }

  /** Tokens written per second, if that can be measured. */
  speedOf(ending: readonly ModelEvent[]): number | undefined {
    const end = ending.at(-1)
    const tokens = end?.type === 'finish' ? (end.usage?.completionTokens ?? 0) : 0
    const milliseconds = this.#lastAt - (this.#begunAt ?? this.#lastAt)
    return tokens < MIN_TOKENS || milliseconds < MIN_MS
      ? undefined
      : (tokens * 1_000) / milliseconds
  }
}
