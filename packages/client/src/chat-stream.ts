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
import type { RequestOptions, Transport } from './transport.ts'

/**
 * An event of a chat stream. A newer server may send other types, which are passed on unchanged: handle them with
 * `default`. Errors are thrown instead.
 */
export type ChatEvent = Exclude<ChatFrame, { type: 'error' }>

/** Sends a request that is answered by a chat stream. */
export function openChat(
  transport: Transport,
  request: Omit<Parameters<Transport['stream']>[0], 'accept'>,
  options: RequestOptions = {},
): ChatStream {
  const aborter = new AbortController()
  const signal = options.signal ? AbortSignal.any([aborter.signal, options.signal]) : aborter.signal
  const response = transport.stream(
    { ...request, accept: 'text/event-stream' },
    { ...options, signal },
  )
  return new ChatStream(response.withResponse(), () => aborter.abort())
}

/** A complete answer. `[n]` in `text` cites the n-th of `hits`, from 1. */
export interface ChatResult extends Omit<DoneFrame, 'type'> {
  text: string
  /** Files made by tools; empty if there are none. */
  artifacts: Artifact[]
  /**
   * Tool calls that wait for your approval, or for answers: send the same request again, with
   * `resume: { state, approved: [callId], answers: [{ callId, id, content }] }`.
   */
  approval?: Approval
}

/** The listeners for `on`. */
export interface ChatListeners {
  /** A fragment of the answer, and the whole text so far. */
  text: (fragment: string, text: string) => void
  /** A tool is called, or has returned; only with `includeSteps`. */
  tool: (step: ToolCallFrame | ToolResultFrame) => void
  /** Tool calls wait for your approval; the answer ends here, and continues with the next request. */
  approval: (approval: Approval) => void
  done: (result: ChatResult) => void
  error: (error: AgentServerError) => void
  /** Every event, including those of unknown types. */
  event: (event: ChatEvent) => void
}

type Listeners = { [Name in keyof ChatListeners]: Set<ChatListeners[Name]> }

/** The streamed answer of a chat. It can be read once: by a loop, or by `text`, `result` or listeners. */
export class ChatStream implements AsyncIterable<ChatEvent> {
  readonly #response: Promise<Outcome<Response>>
  readonly #abort: () => void
  readonly #events: AsyncGenerator<ChatEvent>
  readonly #finished = withResolvers<ChatResult>()
  readonly #listeners: Listeners = {
    text: new Set(),
    tool: new Set(),
    approval: new Set(),
    done: new Set(),
    error: new Set(),
    event: new Set(),
  }
  #isRead = false
  #text = ''
  #approval: Approval | undefined

  /** Internal: use `chat`. */
  constructor(
    response: Promise<Outcome<Response>>,
    abort: () => void,
    read: ReadFrames = readFrames,
  ) {
    this.#response = response
    this.#abort = abort
    this.#events = this.#readAll(read)
    // Avoids an unhandled rejection if nobody awaits the outcome.
    this.#finished.promise.catch(() => undefined)
    response.catch(() => undefined)
  }

  /** Reads a stream made by `toReadableStream`, perhaps on another machine. */
  static fromReadableStream(stream: ReadableStream<Uint8Array>): ChatStream {
    const response = new Response(stream)
    const { status, headers } = response
    const outcome = { data: response, status, headers, response, requestId: undefined }
    return new ChatStream(Promise.resolve(outcome), () => undefined, readForwarded)
  }

  /** Resolves when the server has started to respond. */
  async withResponse(): Promise<Outcome<ChatStream>> {
    return { ...(await this.#response), data: this }
  }

  [Symbol.asyncIterator](): AsyncGenerator<ChatEvent> {
    if (this.#isRead)
      throw new TypeError('The stream has already been read: it can be read only once')
    this.#isRead = true
    return this.#events
  }

  /** The whole text of the answer. */
  async text(): Promise<string> {
    return (await this.result()).text
  }

  /** The complete answer; reads the stream if nothing else does. Throws the errors of reading it. */
  async result(): Promise<ChatResult> {
    this.#drain()
    return this.#finished.promise
  }

  /** Stops the answer, at the server, too; readers get an `AbortError`. */
  abort(): void {
    this.#abort()
  }

  /** Adds a listener; the stream is then read automatically, unless a loop over it starts at once. */
  on<Name extends keyof ChatListeners>(name: Name, listener: ChatListeners[Name]): this {
    this.#listeners[name].add(listener)
    queueMicrotask(() => this.#drain())
    return this
  }

  /** The events as NDJSON, to be forwarded; see `fromReadableStream`. An error becomes a last line of type `error`. */
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
          // A generator that has not been started would return without running its `finally`.
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
    // Errors are reported by `result` and to `error` listeners.
    readOn().catch(() => undefined)
  }

  async *#readAll(read: ReadFrames): AsyncGenerator<ChatEvent> {
    try {
      const { data } = await this.#response
      for await (const frame of this.#whole(read(data.body ?? new ReadableStream()))) {
        this.#take(frame)
        yield frame
        // Always the last event: failures of the connection after it do not matter.
        if (frame.type === 'done') return
      }
    } catch (error) {
      this.#fail(error)
      throw error
    } finally {
      this.#leave()
    }
  }

  /** Stops the answer, at the server, too. */
  #leave(): void {
    this.#abort()
    this.#finished.reject(new AbortError('The stream was closed before its end'))
  }

  /** Throws the error that the stream reports, and `StreamInterruptedError` if it ends without a last event. */
  async *#whole(frames: AsyncGenerator<ChatFrame>): AsyncGenerator<ChatEvent> {
    let cause: unknown
    try {
      for await (const frame of frames) {
        if (frame.type === 'error') throw this.#cutOff(toError(frame.error))
        yield frame
      }
    } catch (error) {
      if (!isCut(error)) throw error
      cause = error
    }
    const { requestId } = await this.#response
    const message = 'The answer ended before it was complete'
    throw new StreamInterruptedError(message, this.#text, { requestId, cause })
  }

  /** The error of an answer that has begun, with its text so far. */
  #cutOff(cause: AgentServerError): AgentServerError {
    if (this.#text === '') return cause
    const { code, requestId, retryAfter } = cause
    return new StreamInterruptedError(cause.message, this.#text, {
      code,
      requestId,
      retryAfter,
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

/** Whether the connection broke, fell silent or sent an unreadable event. */
function isCut(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    error instanceof TimeoutError ||
    error instanceof UnreadableEvent ||
    error instanceof RangeError
  )
}

type ReadFrames = (body: ReadableStream<Uint8Array>) => AsyncGenerator<ChatFrame>

/** Known events, which must be readable; others may come from a newer server and hold anything. */
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

/** An error in the form in which the server would have sent it. */
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
