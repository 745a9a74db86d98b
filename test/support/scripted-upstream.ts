import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { closeAfterUse } from './close-after-use.ts'

/** What the upstream does next. The headers leave with the first `send`. */
export type Step =
  | { send: string | Uint8Array }
  | { until: PromiseLike<unknown> }
  | { pauseMs: number }
  /** Destroys the socket; before any `send`, the client never sees a header. */
  | { cut: true }
  /** Says nothing more until the client leaves. */
  | { hang: true }

export interface Reply {
  status?: number
  headers?: Record<string, string>
  steps: readonly Step[]
}

/** One answer, or what to answer to the request that came. */
export type Script = Reply | ((request: RecordedRequest) => Reply)

export interface RecordedRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  /** Parsed JSON, or the text as it came. */
  body: unknown
  /** True once the client left before the answer was complete. */
  readonly disconnected: boolean
  /** Resolves when the answer is complete or the client has left. */
  readonly closed: Promise<void>
}

export interface ScriptedUpstream {
  /** The base URL for `CHAT_BASE_URL`. */
  readonly url: string
  /** Every chat request so far, in the order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** How many sockets clients have opened. */
  readonly connections: number
  /** Adds answers: each chat request takes the next one. */
  script(...scripts: Script[]): void
  /** The answer when no script is left; without it, a 500 that says so. */
  always(script: Script): void
  /** What it answers at other paths, instead of a list of one model; 404 elsewhere. */
  tell(answers: Record<string, unknown>): void
  /** Resolves with the next chat request to arrive after this call. */
  nextRequest(): Promise<RecordedRequest>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const UNSCRIPTED: Reply = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  steps: [{ send: JSON.stringify({ error: { message: 'No script is left for this request' } }) }],
}
const MODELS = { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'test' }] }

/**
 * A chat-completions server on 127.0.0.1 that plays what a test scripts; see `upstream-replies.ts`
 * for ready-made answers. Closes itself, but in a hook and outside vitest.
 * `keepAliveTimeout` is how long a connection waits for its next request, in milliseconds; `forgets` lets go of requests
 * that are answered, where there are too many to keep.
 */
export async function startScriptedUpstream({
  keepAliveTimeout = 5_000,
  forgets = false,
} = {}): Promise<ScriptedUpstream> {
  const requests: RecordedRequest[] = []
  const scripts: Script[] = []
  const waiting: ((request: RecordedRequest) => void)[] = []
  let fallback: Script = UNSCRIPTED
  let connections = 0
  let told: Record<string, unknown> | undefined

  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    if (tell(told, incoming, response)) return
    const request = await record(incoming, response)
    if (!forgets) requests.push(request)
    for (const resolve of waiting.splice(0)) resolve(request)
    const script = scripts.shift() ?? fallback
    await play(typeof script === 'function' ? script(request) : script, request, response)
  }
  // A script that throws is a broken test: the socket dies and the rejection fails the run.
  const server = createServer({ keepAliveTimeout }, (incoming, response) => {
    void answer(incoming, response).finally(() => response.writableEnded || response.destroy())
  })
  server.on('connection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))

  const upstream: ScriptedUpstream = {
    url: `http://127.0.0.1:${portOf(server.address())}/v1`,
    requests,
    get connections() {
      return connections
    },
    script: (...more) => void scripts.push(...more),
    always(script) {
      fallback = script
    },
    tell(answers) {
      told = answers
    },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.once('close', resolve))
      server.close()
      server.closeAllConnections()
      await closed
    },
    [Symbol.asyncDispose]: () => upstream.close(),
  }
  closeAfterUse(upstream.close)
  return upstream
}

/** Answers a request that is no chat; returns false for one that is. */
function tell(
  told: Record<string, unknown> | undefined,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const about = told ? told[url] : method === 'GET' && MODELS
  if (!about && method !== 'GET') return false
  response.writeHead(about ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(about ?? {}))
  return true
}

async function record(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<RecordedRequest> {
  let disconnected = false
  const closed = new Promise<void>((resolve) => {
    response.once('close', () => {
      disconnected = !response.writableFinished
      resolve()
    })
  })
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: parse(await text(incoming).catch(() => '')),
    closed,
    get disconnected() {
      return disconnected
    },
  }
}

async function play(
  { status = 200, headers = { 'content-type': 'text/event-stream; charset=utf-8' }, steps }: Reply,
  request: RecordedRequest,
  response: ServerResponse,
): Promise<void> {
  const open = () => response.headersSent || response.writeHead(status, headers)
  for (const step of steps) {
    if (response.destroyed) return
    if ('send' in step) open()
    await take(step, request, response)
  }
  if (response.destroyed) return
  open()
  response.end()
}

async function take(step: Step, { closed }: RecordedRequest, response: ServerResponse) {
  if ('send' in step) await flushed(response, step.send)
  else if ('until' in step) await Promise.race([step.until, closed])
  else if ('pauseMs' in step) await pause(step.pauseMs)
  else if ('hang' in step) await closed
  else response.socket?.destroy()
}

/** Resolves when the bytes are out, or the socket is gone. */
function flushed(response: ServerResponse, bytes: string | Uint8Array): Promise<unknown> {
  return new Promise((resolve) => response.write(bytes, resolve))
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== 'object' || !address) throw new Error('The upstream has no port')
  return address.port
}
