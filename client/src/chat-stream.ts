import type { Outcome } from './call.ts'
import type {
  Approval,
  Artifact,
  ChatFrame,
  DoneFrame,
  ErrorDetail,
  ToolCallFrame,
  ToolResultFrame,
} from './contract.ts'
import {
  AbortError,
  AgentServerError,
  ConnectionError,
  StreamInterruptedError,
  TimeoutError,
  toError,
  UpstreamError,
} from './errors.ts'
import { readEvents, readLines } from './streams.ts'

/**
 * What a chat streams. A later server may send further types, which are passed on as they are: leave room for
 * them with `default`. An error is thrown instead.
 */
export type ChatEvent = Exclude<ChatFrame, { type: 'error' }>

/** A whole answer. `[n]` in `text` cites the n-th of `hits`, from 1. */
export interface ChatResult extends Omit<DoneFrame, 'type'> {
  text: string
  /** The files that tools made; empty where there are none. */
  artifacts: Artifact[]
  /** Calls that wait for your word: send the same request again, with `resume: { state, approved: [callId] }`. */
  approval?: Approval
}

/** What `on` tells of. */
export interface ChatListeners {
  /** A fragment of the answer, and all of it so far. */
  text: (fragment: string, text: string) => void
  /** A tool is called, or has answered; only with `includeSteps`. */
  tool: (step: ToolCallFrame | ToolResultFrame) => void
  /** Calls wait for your word; the answer ends here, and goes on with the next request. */
  approval: (approval: Approval) => void
  done: (result: ChatResult) => void
  error: (error: AgentServerError) => void
  /** Every event, those of unknown types, too. */
  event: (event: ChatEvent) => void
}

type Listeners = { [Name in keyof ChatListeners]: Set<ChatListeners[Name]> }

/** The answer of a chat as it is generated. It is read once: by a loop, or by `text`, `result` or listeners. */
export class ChatStream implements AsyncIterable<ChatEvent> {
  readonly #response: Promise<Outcome<Response>>
  readonly #abort: () => void
  readonly #events: AsyncGenerator<ChatEvent>
  readonly #finished = withResolvers<ChatResult>()
  readonly #listeners: Listeners = {
    ...{ text: new Set(), tool: new Set(), approval: new Set(), done: new Set() },
    ...{ error: new Set(), event: new Set() },
  }
  #isRead = false
  #text = ''
  #approval: Approval | undefined

  /** For the client's own use: `chat` makes one. */
  constructor(
    response: Promise<Outcome<Response>>,
    abort: () => void,
    read: ReadFrames = readFrames,
  ) {
    this.#response = response
    this.#abort = abort
    this.#events = this.#readAll(read)
    // Whoever asks for the outcome is told; nobody need ask.
    this.#finished.promise.catch(() => undefined)
    response.catch(() => undefined)
  }

  /** A stream that `toReadableStream` made, perhaps on another machine. */
  static fromReadableStream(stream: ReadableStream<Uint8Array>): ChatStream {
    const response = new Response(stream)
    const outcome = Promise.resolve({ data: response, response, requestId: undefined })
    return new ChatStream(outcome, () => undefined, readForwarded)
  }

  /** Resolves when the server has begun to answer. */
  async withResponse(): Promise<Outcome<ChatStream>> {
    const { response, requestId } = await this.#response
    return { data: this, response, requestId }
  }

  [Symbol.asyncIterator](): AsyncGenerator<ChatEvent> {
    if (this.#isRead) throw new TypeError('The stream is read already: it can be read once')
    this.#isRead = true
    return this.#events
  }

  /** The whole text of the answer. */
  async text(): Promise<string> {
    return (await this.result()).text
  }

  /** The whole answer; reads the stream where nobody else does. Throws what reading it throws. */
  async result(): Promise<ChatResult> {
    this.#drain()
    return this.#finished.promise
  }

  /** Ends the answer, also at the server: whoever reads it gets an `AbortError`. */
  abort(): void {
    this.#abort()
  }

  /** Calls a listener; the stream is read by itself unless a loop over it begins at once. */
  on<Name extends keyof ChatListeners>(name: Name, listener: ChatListeners[Name]): this {
    this.#listeners[name].add(listener)
    queueMicrotask(() => this.#drain())
    return this
  }

  /** The events as lines of JSON, to be passed on; see `fromReadableStream`. An error ends it with an `error` line. */
  toReadableStream(): ReadableStream<Uint8Array> {
    const events = this[Symbol.asyncIterator]()
    const encoder = new TextEncoder()
    const line = (value: object) => encoder.encode(`${JSON.stringify(value)}\n`)
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const { value, done } = await events.next()
            if (done) controller.close()
            else controller.enqueue(line(value))
          } catch (error) {
            controller.enqueue(line({ type: 'error', error: detailOf(error) }))
            controller.close()
          }
        },
        cancel: async () => {
          // Events that nobody has asked for yet have not begun, and would end without a word.
          this.#leave()
          await events.return(undefined)
        },
      },
      { highWaterMark: 0 },
    )
  }

  #drain(): void {
    if (this.#isRead) return
    const events = this[Symbol.asyncIterator]()
    const readOn = async () => {
      while (!(await events.next()).done);
    }
    // What goes wrong is what `result` throws, and what `error` is told.
    readOn().catch(() => undefined)
  }

  async *#readAll(read: ReadFrames): AsyncGenerator<ChatEvent> {
    try {
      const { data } = await this.#response
      for await (const frame of this.#whole(read(data.body ?? new ReadableStream()))) {
        this.#take(frame)
        yield frame
        // Always the last: what becomes of the connection after it is nothing to the answer.
        if (frame.type === 'done') return
      }
    } catch (error) {
      this.#fail(error)
      throw error
    } finally {
      this.#leave()
    }
  }

  /** Ends the answer at the server, too. */
  #leave(): void {
    this.#abort()
    this.#finished.reject(new AbortError('The stream was left before its end'))
  }

  /** Throws what the stream says went wrong, and `StreamInterruptedError` where it ends without a last frame. */
  async *#whole(frames: AsyncGenerator<ChatFrame>): AsyncGenerator<ChatEvent> {
    let cause: unknown
    try {
      for await (const frame of frames) {
        if (frame.type === 'error') throw toError(frame.error)
        yield frame
      }
    } catch (error) {
      if (!isCut(error)) throw error
      cause = error
    }
    throw new StreamInterruptedError('The answer ended before it was complete', this.#text, {
      cause,
    })
  }

  #fail(error: unknown): void {
    this.#finished.reject(error)
    if (!(error instanceof AgentServerError)) return
    for (const listener of this.#listeners.error) listener(error)
  }

  #take(event: ChatEvent): void {
    const { text, tool, event: all } = this.#listeners
    for (const listener of all) listener(event)
    if (event.type === 'text-delta') {
      this.#text += event.text
      for (const listener of text) listener(event.text, this.#text)
    } else if (event.type === 'tool-call' || event.type === 'tool-result') {
      for (const listener of tool) listener(event)
    } else if (event.type === 'approval-required') {
      this.#wait(event)
    } else if (event.type === 'done') {
      this.#complete(event)
    }
  }

  #wait({ calls, state }: Approval): void {
    this.#approval = { calls, state }
    for (const listener of this.#listeners.approval) listener(this.#approval)
  }

  #complete({ type: _type, artifacts = [], ...rest }: DoneFrame): void {
    const waiting = this.#approval && { approval: this.#approval }
    const result = { ...rest, ...waiting, text: this.#text, artifacts }
    this.#finished.resolve(result)
    for (const listener of this.#listeners.done) listener(result)
  }
}

/** A connection that broke, fell silent or sent what is no event. */
function isCut(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    error instanceof TimeoutError ||
    error instanceof UnreadableEvent ||
    error instanceof RangeError
  )
}

type ReadFrames = (body: ReadableStream<Uint8Array>) => AsyncGenerator<ChatFrame>

/** Events that the answer is made of; others may be of a later server, and hold anything. */
const KNOWN_EVENTS = ['message', 'done', 'error']

class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent'
}

async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<ChatFrame> {
  for await (const { event, data } of readEvents(body)) {
    const frame = parseFrame(data)
    if (frame) yield frame
    else if (KNOWN_EVENTS.includes(event)) throw new UnreadableEvent('An event cannot be read')
  }
}

async function* readForwarded(body: ReadableStream<Uint8Array>): AsyncGenerator<ChatFrame> {
  for await (const line of readLines(body)) {
    const frame = parseFrame(line)
    if (!frame) throw new UnreadableEvent('A line cannot be read')
    yield frame
  }
}

function parseFrame(data: string): ChatFrame | undefined {
  try {
    const frame = JSON.parse(data)
    return typeof Object(frame).type === 'string' ? frame : undefined
  } catch {
    return undefined
  }
}

/** An error as the server would have sent it. */
function detailOf(error: unknown): ErrorDetail {
  const { message = 'The stream failed', code = 'internal', requestId = '' } = Object(error)
  const type = error instanceof UpstreamError ? 'upstream_error' : 'server_error'
  return { message, type, code, param: null, request_id: requestId }
}

/** `Promise.withResolvers`, which Node.js 20 lacks. */
function withResolvers<Value>() {
  const settle: { resolve?: (value: Value) => void; reject?: (error: unknown) => void } = {}
  const promise = new Promise<Value>((resolve, reject) =>
    Object.assign(settle, { resolve, reject }),
  )
  return {
    promise,
    resolve: (value: Value) => settle.resolve?.(value),
    reject: (error: unknown) => settle.reject?.(error),
  }
}
