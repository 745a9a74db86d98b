import { Call, type Outcome } from './call.ts'
import type { ErrorDetail } from './contract.ts'
import { type Deadline, pause, startDeadline, throwIfAborted, watchStream } from './deadline.ts'
import { AgentServerError, ServerError, toError } from './errors.ts'
import { pauseBeforeRetry, randomKey } from './retry.ts'

/** How much of an error response is read; a proxy may send any page. */
const MAX_REFUSAL_BYTES = 65_536
/** Warnings of different words that are shown. */
const MAX_WARNINGS = 100

/** The part of the standard `fetch` that is used. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** Options of a single call. */
export interface RequestOptions {
  /** Aborts the call with an `AbortError`, also during the wait for a retry, and while it streams. */
  signal?: AbortSignal | undefined
  /** Idle timeout in milliseconds: if the server is silent for so long, the attempt ends with a `TimeoutError`. */
  timeout?: number | undefined
  /** How often the call is retried. */
  maxRetries?: number | undefined
  headers?: Record<string, string> | undefined
}

/** A request body other than JSON. */
export interface Body {
  content: NonNullable<RequestInit['body']>
  headers: Record<string, string>
  /** The error of reading the body's source, if that is what failed. */
  failure?: () => unknown
}

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below the base URL, with a leading slash; values from callers are already encoded. */
  path: string
  query?: Record<string, string | number | undefined>
  /** Sent as JSON. */
  json?: unknown
  /** Creates the body for each attempt, since a stream can be read only once. */
  body?: (deadline: Deadline) => Body | Promise<Body>
  /** Identifies a repeated POST to the server. Default: a new key for each call. */
  idempotencyKey?: string | undefined
  /** False if it must never be retried. */
  isRepeatable?: boolean
  accept?: string
  /** A status that counts as success for this path, like 200. */
  alsoTaken?: number
}

export interface TransportOptions {
  baseURL: string
  apiKey: string | null
  timeout: number
  maxRetries: number
  fetch: Fetch
  defaultHeaders: Record<string, string>
  warnings: boolean
}

type Read<Data> = (response: Response, deadline: Deadline) => Promise<Data>

/** Sends requests, and retries them if that is safe and useful. */
export class Transport {
  // A private field, so that printing a client does not show the key.
  readonly #options: TransportOptions
  readonly #shown = new Set<string>()

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** The JSON response; undefined if it is empty. */
  json<Data>(request: Request, options: RequestOptions = {}): Call<Data> {
    const read: Read<Data> = async (response, deadline) => {
      const text = await response.text()
      deadline.end()
      return parseAnswer<Data>(text, response)
    }
    return new Call(this.#send(request, options, read))
  }

  /** The response with its body still to be read. */
  stream(request: Request, options: RequestOptions = {}): Call<Response> {
    const read: Read<Response> = async ({ status, headers, body }, deadline) => {
      if (!body) deadline.end()
      return new Response(body && watchStream(body, deadline), { status, headers })
    }
    return new Call(this.#send(request, options, read))
  }

  async #send<Data>(
    request: Request,
    options: RequestOptions,
    read: Read<Data>,
  ): Promise<Outcome<Data>> {
    checkPath(request.path)
    const { signal, maxRetries = this.#options.maxRetries } = options
    const headers = this.#headers(request, options)
    const retries = request.isRepeatable === false ? 0 : maxRetries
    for (let attempt = 0; ; attempt++) {
      throwIfAborted(signal)
      // An earlier attempt, whose response was lost, may have deleted it.
      const isGoneFine = request.method === 'DELETE' && attempt > 0
      try {
        return await this.#attempt(request, { ...options, headers }, read, isGoneFine)
      } catch (error) {
        const wait = attempt < retries ? pauseBeforeRetry(error, attempt) : undefined
        if (wait === undefined) throw error
        await pause(wait, signal)
      }
    }
  }

  async #attempt<Data>(
    request: Request,
    { headers = {}, signal, timeout = this.#options.timeout }: RequestOptions,
    read: Read<Data>,
    isGoneFine: boolean,
  ): Promise<Outcome<Data>> {
    const { method, path } = request
    const what = `${method} ${this.#options.baseURL}${path}`
    const deadline = startDeadline(what, timeout, signal)
    let body: Body | undefined
    try {
      body = await request.body?.(deadline)
    } catch (error) {
      deadline.end()
      throw error
    }
    try {
      const response = await this.#fetch(request, {
        method,
        signal: deadline.signal,
        headers: { ...headers, ...body?.headers },
        body: body?.content ?? (request.json === undefined ? null : JSON.stringify(request.json)),
      })
      const { status, headers: received } = response
      const facts = { status, headers: received, response, requestId: requestIdOf(response) }
      if (response.ok || status === request.alsoTaken) {
        this.#warn(request, received)
        return { ...facts, data: await read(response, deadline) }
      }
      const error = await refusalOf(response, this.#options.apiKey)
      if (!isGoneFine || error.status !== 404) throw error
      return { ...facts, data: await read(new Response(null), deadline) }
    } catch (error) {
      deadline.end()
      if (error instanceof AgentServerError) throw error
      throw body?.failure?.() ?? deadline.explain(error)
    }
  }

  /** Shows what the server says of a request that it took, such as the name of a field that it does not know. */
  #warn({ method, path }: Request, headers: Headers): void {
    const text = headers.get('warnings')
    if (!text || !this.#options.warnings) return
    if (this.#shown.has(text) || this.#shown.size >= MAX_WARNINGS) return
    this.#shown.add(text)
    // biome-ignore lint/suspicious/noConsole: that is where developers look
    console.warn(`agent-server-client: ${method} ${path}: ${text}`)
  }

  #fetch({ path, query = {} }: Request, init: RequestInit): Promise<Response> {
    const { baseURL, fetch } = this.#options
    const entries = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const parameters = entries.length > 0 ? `?${new URLSearchParams(entries)}` : ''
    // Required for streams: the response comes only when all is sent.
    const duplex = init.body instanceof ReadableStream && { duplex: 'half' as const }
    // Browsers require `fetch` to be called without `this`.
    return fetch(`${baseURL}${path}${parameters}`, { ...init, ...duplex })
  }

  #headers({ method, accept, ...request }: Request, { headers }: RequestOptions) {
    const { apiKey, defaultHeaders } = this.#options
    const merged = new Headers({ accept: accept ?? 'application/json' })
    if (request.json !== undefined) merged.set('content-type', 'application/json')
    if (apiKey !== null) merged.set('authorization', `Bearer ${apiKey}`)
    if (method === 'POST') merged.set('idempotency-key', request.idempotencyKey ?? randomKey())
    for (const [name, value] of Object.entries({ ...defaultHeaders, ...headers })) {
      merged.set(name, value)
    }
    return Object.fromEntries(merged)
  }
}

/** Throws a TypeError if an id is one that no path can hold, which would call something else. */
function checkPath(path: string): void {
  if (/\/\.{0,2}(\/|$)/.test(path)) throw new TypeError('An id must not be empty, "." or ".."')
}

/** The id by which the server's log names a request. */
function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined
}

/** Parses the body of a response; undefined if it is empty. Throws `ServerError` if it is not JSON. */
function parseAnswer<Data>(text: string, response: Response): Data {
  try {
    const data: Data = text === '' ? undefined : JSON.parse(text)
    return data
  } catch (cause) {
    const { status } = response
    const message =
      'The answer is not JSON: this may not be an Agent Server, but something in its place'
    throw new ServerError(message, { status, requestId: requestIdOf(response), cause })
  }
}

/** In characters: a shorter text is no server key, and may occur within any word. */
const MIN_SECRET = 8

/** Converts an error response. It may repeat what was sent, so the key is removed. */
async function refusalOf(response: Response, apiKey: string | null): Promise<AgentServerError> {
  const text = await readStart(response)
  const isSecret = apiKey !== null && apiKey.length >= MIN_SECRET
  const detail = detailOf(isSecret ? text.replaceAll(apiKey, '[key]') : text)
  return toError(detail, {
    status: response.status,
    requestId: requestIdOf(response),
    retryAfter: retryAfterOf(response),
  })
}

function detailOf(text: string): Partial<ErrorDetail> {
  try {
    const { error } = Object(JSON.parse(text))
    return typeof error === 'object' && error !== null ? error : {}
  } catch {
    return {}
  }
}

/** In seconds; a proxy may also send a date. */
function retryAfterOf({ headers }: Response): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.max(seconds, 0)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max((date - Date.now()) / 1_000, 0)
}

async function readStart({ body }: Response): Promise<string> {
  if (!body) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length < MAX_REFUSAL_BYTES) {
    const { value, done } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return text
}
