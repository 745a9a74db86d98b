import type { IncomingMessage } from 'node:http'
import { OpenAI } from 'openai'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ModelEvent } from '../chat-model.ts'
import { failureOfStatus, UpstreamFailure } from './failures.ts'
import { isObject, type JsonObject, parseJson } from './json.ts'
import { post } from './json-request.ts'
import { type AnswerReader, createAnswerReader } from './stream.ts'

/** How long the usage may come after the end of the answer. */
const USAGE_MS = 3_000
/** The SDK's own time-out ends at the headers and cannot be turned off: the watchdog is always sooner. */
const SDK_TIMEOUT_MS = 2 ** 31 - 1

export interface ConnectionOptions {
  apiKey: string
  /** The address before `/chat/completions`. */
  baseUrl: string
  /** The longest silence of the upstream that is waited out, before the first byte too. */
  idleTimeoutMs: number
}

interface OpenAiConnection {
  /** One call, tried once. Throws UpstreamFailure, what the SDK throws, or what `signal` was aborted with. */
  call(body: JsonObject, signal: AbortSignal): AsyncGenerator<ModelEvent>
}

export function createOpenAiConnection(options: ConnectionOptions): OpenAiConnection {
  return {
    async *call(body, signal) {
      const watchdog = createWatchdog(options.idleTimeoutMs)
      const reader = createAnswerReader()
      const stop = AbortSignal.any([signal, watchdog.signal])
      try {
        yield* textsOf(body, createClient(options, watchdog), reader, stop, watchdog)
      } catch (error) {
        // An answer that has its finish reason is whole, whatever became of the connection.
        if (!stop.aborted && !reader.finished) throw error
      }
      // The SDK ends an aborted stream without a word, and one that the upstream closed too soon.
      signal.throwIfAborted()
      if (!reader.finished) {
        throw new UpstreamFailure({ kind: watchdog.signal.aborted ? 'timeout' : 'ended-early' })
      }
      yield* reader.ending()
    },
  }
}

async function* textsOf(
  body: JsonObject,
  client: OpenAI,
  reader: AnswerReader,
  signal: AbortSignal,
  watchdog: Watchdog,
): AsyncGenerator<ModelEvent> {
  // The SDK's type knows OpenAI's own fields only; what other servers want is sent too.
  const parameters = body as unknown as ChatCompletionCreateParamsStreaming
  for await (const chunk of await client.chat.completions.create(parameters, { signal })) {
    const text = reader.read(chunk)
    if (reader.finished) watchdog.limit(USAGE_MS)
    if (text) yield { type: 'text-delta', text }
  }
}

/** One client per call, since each call has its watchdog; making one takes about 10 µs. */
function createClient({ apiKey, baseUrl }: ConnectionOptions, watchdog: Watchdog): OpenAI {
  // What is left undefined here would be read from the environment.
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    timeout: SDK_TIMEOUT_MS,
    fetch: createWatchedFetch({ apiKey, watchdog }),
  })
}

const MAX_ERROR_BYTES = 64 * 1024
const MAX_WHOLE_ANSWER_BYTES = 16 * 1024 * 1024
/** The longest line of a stream; the SDK itself would buffer without a bound. */
const MAX_LINE_BYTES = 8 * 1024 * 1024
/** How long the end of a read answer may take before its connection is given up. */
const DRAIN_MS = 1_000

const NEWLINE = 10
const BRACE = '{'
const ANGLE = '<'

interface Options {
  apiKey: string
  watchdog: Watchdog
}

/** The body of an answer, read part by part under the eyes of the watchdog. */
interface Body {
  /** Nothing at its end. */
  read(): Promise<Buffer | undefined>
  /** Gives the connection up. */
  destroy(): void
  /** Reads what follows the last event, so that the connection can serve the next call. */
  drain(): Promise<void>
}

/**
 * `fetch` for the SDK. Sends no headers but these, so that nothing from the environment slips in; feeds
 * the watchdog with every byte, comments that keep the connection alive included; bounds what is read;
 * turns refusals into UpstreamFailure; and passes a whole answer, from a server that does not stream, as
 * a stream of one event.
 */
function createWatchedFetch({ apiKey, watchdog }: Options): typeof fetch {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    'user-agent': 'agent-server',
  }
  return async (url, init) => {
    const sent = post(new URL(String(url)), headers, String(init?.body), init?.signal ?? undefined)
    const message = await watchdog.watch(sent)
    const body = bodyOf(message, watchdog)
    const status = message.statusCode ?? 0
    if (status < 200 || status > 299) {
      const words = await readText(body, MAX_ERROR_BYTES)
      throw failureOfStatus(status, headersOf(message), words)
    }
    return new Response(await openBody(body), { headers: headersOf(message) })
  }
}

function headersOf({ headers }: IncomingMessage): Headers {
  const single = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  return new Headers(single)
}

function bodyOf(message: IncomingMessage, watchdog: Watchdog): Body {
  const parts = message.iterator({ destroyOnReturn: false })
  return {
    async read() {
      const { done, value } = await watchdog.watch(parts.next())
      return done ? undefined : value
    },
    destroy: () => void message.destroy(),
    async drain() {
      const timer = setTimeout(() => message.destroy(), DRAIN_MS)
      message.once('close', () => clearTimeout(timer))
      await parts.return?.()
      message.resume()
    },
  }
}

async function openBody(body: Body): Promise<ReadableStream<Uint8Array>> {
  const first = await body.read()
  const start = first?.toString('latin1').trimStart().charAt(0)
  if (start === ANGLE) {
    body.destroy()
    throw new UpstreamFailure({ kind: 'web-page', status: 200 })
  }
  if (start !== BRACE) return watchBody(body, first)
  const whole = await readText(body, MAX_WHOLE_ANSWER_BYTES, first)
  const answer = parseJson(whole)
  if (!isObject(answer)) throw new UpstreamFailure({ kind: 'unreadable', words: whole })
  return new Blob([`data: ${JSON.stringify(answer)}\n\n`]).stream()
}

function watchBody(body: Body, first: Buffer | undefined): ReadableStream<Uint8Array> {
  let lineBytes = 0
  const measure = (bytes: Buffer) => {
    const lineEnd = bytes.lastIndexOf(NEWLINE)
    lineBytes = lineEnd === -1 ? lineBytes + bytes.length : bytes.length - lineEnd - 1
    if (lineBytes <= MAX_LINE_BYTES) return
    throw new UpstreamFailure({ kind: 'unreadable', words: 'a line longer than is accepted' })
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (first) controller.enqueue(first)
      },
      async pull(controller) {
        const bytes = await body.read()
        if (!bytes) return controller.close()
        measure(bytes)
        controller.enqueue(bytes)
      },
      cancel: () => void Promise.allSettled([body.drain()]),
    },
    { highWaterMark: 0 },
  )
}

async function readText(body: Body, maximumBytes: number, first?: Buffer): Promise<string> {
  const parts = first ? [first] : []
  let bytes = first?.length ?? 0
  while (bytes < maximumBytes) {
    const part = await body.read()
    if (!part) break
    parts.push(part)
    bytes += part.length
  }
  if (bytes >= maximumBytes) body.destroy()
  return Buffer.concat(parts).toString('utf8', 0, maximumBytes)
}

/** The longest a Node timer can run. */
const MAX_TIMER_MS = 2 ** 31 - 1

interface Watchdog {
  /** Aborted once the upstream kept silent for too long. */
  readonly signal: AbortSignal
  /** Waits for `work`; `signal` aborts when it takes longer than the limit. */
  watch<T>(work: Promise<T>): Promise<T>
  /** Shortens the limit of every wait from now on. */
  limit(milliseconds: number): void
}

/**
 * Watches the waits for an upstream, and those only: a reader that takes its time between two chunks is
 * not a stalled upstream.
 */
function createWatchdog(limitMs: number): Watchdog {
  const controller = new AbortController()
  let limit = Math.min(limitMs, MAX_TIMER_MS)
  return {
    signal: controller.signal,
    async watch(work) {
      const timer = setTimeout(() => controller.abort(), limit)
      try {
        return await work
      } finally {
        clearTimeout(timer)
      }
    },
    limit(milliseconds) {
      limit = Math.min(limit, milliseconds)
    },
  }
}

/** The part of a logger that a model uses. Nothing it is given holds a key or a prompt. */
export interface ModelLog {
  warn(facts: Record<string, unknown>, message: string): void
}
