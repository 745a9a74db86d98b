import type { Capabilities } from '../src/schemas/agent.ts'
import type { ChatFrame } from '../src/schemas/chat.ts'
import type { ChunkList, Document, DocumentCreated, DocumentList } from '../src/schemas/document.ts'
import type { ErrorBody } from '../src/schemas/error.ts'
import type { Readiness } from '../src/schemas/ops.ts'
import type { QueryRequest, QueryResponse } from '../src/schemas/query.ts'
import type { SandboxReport } from '../src/schemas/sandbox.ts'

/** The whole API, with the session's cookie in place of the key. */
export const API = '/ui/api'
/** Tells the server that a page of its own asks: no form and no image can send a header. */
const HEADERS = { 'x-agent-server-screen': '1' }
const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' }

/** A refusal of the server, or `unreachable` where it does not answer; `message` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    more: { requestId?: string; retryAfter?: number } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = more.requestId
    this.retryAfter = more.retryAfter
  }
}

const UNREACHABLE = 'The server does not answer. It may be restarting, or the connection is gone.'

let onSessionEnd: () => void = () => undefined

/** Is called whenever the server no longer knows the session. */
export function whenSessionEnds(callback: () => void): void {
  onSessionEnd = callback
}

export interface SessionState {
  signedIn: boolean
  version: string
}

export const session = {
  read: () => call<SessionState>('/ui/session'),
  signIn: (secret: { key: string } | { token: string }) =>
    call<void>('/ui/session', { method: 'POST', body: secret }),
  signOut: () => call<void>('/ui/session', { method: 'DELETE' }),
  revealKey: async () => (await call<{ key: string }>('/ui/key', { method: 'POST' })).key,
}

export const readCapabilities = () => call<Capabilities>(`${API}/agent/capabilities`)
export const verifySandbox = () =>
  call<SandboxReport>(`${API}/agent/sandbox/verify`, { method: 'POST' })

/** What works, whatever the status of the answer is: 503 tells as much. */
export async function readReadiness(): Promise<Readiness> {
  const response = await send(`${API}/readiness`, {})
  if (!response.ok && response.status !== 503) throw await toApiError(response)
  const answer: Readiness | ErrorBody = await response.json()
  if ('error' in answer) throw errorOf(answer, response)
  return answer
}

export interface PageOf {
  status?: string | undefined
  cursor?: string | undefined
  limit?: number
}

export const documents = {
  list: ({ status, cursor, limit = 100 }: PageOf, signal?: AbortSignal) =>
    call<DocumentList>(`${API}/documents?${queryString({ status, cursor, limit })}`, { signal }),
  get: (id: string) => call<Document>(documentUrl(id)),
  remove: (id: string) => call<void>(documentUrl(id), { method: 'DELETE' }),
  retry: (id: string) => call<DocumentCreated>(`${documentUrl(id)}/retry`, { method: 'POST' }),
  create: (document: { text: string; title?: string; url?: string }) =>
    call<DocumentCreated>(`${API}/documents`, { method: 'POST', body: document }),
  chunks: (id: string, { cursor, limit = 100 }: PageOf, signal?: AbortSignal) =>
    call<ChunkList>(`${documentUrl(id)}/chunks?${queryString({ cursor, limit })}`, { signal }),
  fileUrl: (id: string) => `${documentUrl(id)}/file`,
}

export const query = (request: Partial<QueryRequest>, signal?: AbortSignal) =>
  call<QueryResponse>(`${API}/query`, { method: 'POST', body: request, signal })

export interface ChatRequestBody {
  messages: { role: 'user' | 'assistant'; content: string }[]
  topK?: number
  filter?: unknown
  includeSteps?: boolean
  conversationId?: string
}

/** The frames of an answer as they arrive; the last one is `done` or `error`. */
export async function* chat(
  request: ChatRequestBody,
  signal: AbortSignal,
): AsyncGenerator<ChatFrame> {
  const response = await send(`${API}/chat`, { method: 'POST', body: request, signal })
  if (!response.ok) throw await toApiError(response)
  if (!response.body) return
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of chunksOf(response.body)) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data:'))
      if (data) yield JSON.parse(data.slice('data:'.length))
    }
  }
}

/** Not the stream's own iterator, which not every browser has. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    throw error instanceof TypeError ? new ApiError(0, 'unreachable', UNREACHABLE) : error
  } finally {
    reader.releaseLock()
  }
}

export interface UploadOptions {
  /** Makes a repeated attempt safe. */
  idempotencyKey: string
  metadata?: Record<string, string>
  onProgress: (sent: number) => void
  signal: AbortSignal
}

/** Sends a file as a document. Not through `fetch`, which does not tell how much has been sent. */
export function upload(file: File, options: UploadOptions): Promise<DocumentCreated> {
  const form = new FormData()
  if (options.metadata) form.append('metadata', JSON.stringify(options.metadata))
  form.append('file', file, file.name)
  const request = new XMLHttpRequest()
  return new Promise((resolve, reject) => {
    const abort = () => request.abort()
    options.signal.addEventListener('abort', abort)
    request.upload.addEventListener('progress', ({ loaded }) => options.onProgress(loaded))
    request.addEventListener('load', () => {
      const answer = request.response
      if (request.status < 300) resolve(answer)
      else {
        if (request.status === 401) onSessionEnd()
        const seconds = Number(request.getResponseHeader('retry-after')) || undefined
        reject(failureOf(request.status, answer, seconds))
      }
    })
    request.addEventListener('error', () => reject(new ApiError(0, 'unreachable', UNREACHABLE)))
    request.addEventListener('abort', () => reject(options.signal.reason))
    request.addEventListener('loadend', () => options.signal.removeEventListener('abort', abort))
    request.open('POST', `${API}/documents`)
    request.responseType = 'json'
    for (const [name, value] of Object.entries(HEADERS)) request.setRequestHeader(name, value)
    request.setRequestHeader('idempotency-key', options.idempotencyKey)
    request.send(form)
  })
}

interface CallOptions {
  method?: string
  body?: unknown
  signal?: AbortSignal | undefined
}

async function call<Answer>(path: string, options: CallOptions = {}): Promise<Answer> {
  const response = await send(path, options)
  if (!response.ok) throw await toApiError(response)
  return JSON.parse((await response.text()) || 'null')
}

async function send(path: string, { method = 'GET', body, signal }: CallOptions) {
  try {
    return await fetch(path, {
      method,
      headers: body === undefined ? HEADERS : JSON_HEADERS,
      credentials: 'same-origin',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', UNREACHABLE)
  }
}

async function toApiError(response: Response): Promise<ApiError> {
  if (response.status === 401) onSessionEnd()
  const seconds = Number(response.headers.get('retry-after')) || undefined
  return failureOf(response.status, await response.json().catch(() => null), seconds)
}

function errorOf(body: ErrorBody, { status }: Response): ApiError {
  return failureOf(status, body, undefined)
}

function failureOf(status: number, body: unknown, retryAfter: number | undefined): ApiError {
  const { error } = Object(body)
  const more = { ...(retryAfter && { retryAfter }), requestId: error?.request_id }
  if (error?.message) return new ApiError(status, error.code, error.message, more)
  return new ApiError(status, 'unknown', `The server answered with status ${status}.`, more)
}

function documentUrl(id: string): string {
  return `${API}/documents/${encodeURIComponent(id)}`
}

function queryString(values: Record<string, string | number | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
}
