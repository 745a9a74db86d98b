import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { withDeadline } from '@agent-server/lib/abort.ts'
import { traceHeaders } from '@agent-server/lib/tracing.ts'
import type { ChatApi } from '../chat-model.ts'
import { decoded } from './decoded.ts'
import { failureOfStatus, toUpstreamFailure, UpstreamFailure } from './failures.ts'
import type { Protocol } from './protocol.ts'

// An import reads every export of the module, which loads undici: 3 MB that nothing here needs.
const http = process.getBuiltinModule('node:http')

/**
 * How long an idle connection is kept, unless its server asks for less: longer than people take to read an answer,
 * shorter than the idle timeout of common load balancers (60 s). Node's default is 5 s, after which the next chat
 * would need new TCP and TLS handshakes.
 */
const KEEP_ALIVE_MS = 55_000
/** Keeps the proxy options of Node's global agents (`NODE_USE_ENV_PROXY`), which are missing from the types. */
const keepLonger = (agent: object) => ({
  ...('options' in agent && typeof agent.options === 'object' && agent.options),
  timeout: KEEP_ALIVE_MS,
})
const httpAgent = new http.Agent(keepLonger(http.globalAgent))
const httpsAgent = new https.Agent(keepLonger(https.globalAgent))

const MAX_ERROR_BYTES = 64 * 2 ** 10
export interface ModelServer {
  apiKey: string
  /** The address before the path of a request. */
  baseUrl: string
  /** How the server is given the key; Anthropic's own has a header for it. */
  auth?: 'bearer' | 'x-api-key' | undefined
}

/** How the key is sent in this protocol. */
export const authFor = (api: ChatApi) =>
  api === 'messages' ? ('x-api-key' as const) : ('bearer' as const)

/** The version of Anthropic's Messages that is spoken. */
const ANTHROPIC_VERSION = '2023-06-01'

/** These take a bearer for a token of another kind; other servers of Messages look for the key in either header. */
const KEY_HEADER_ALONE = /\.(?:anthropic|azure)\.com$/

export function authHeaders({ apiKey, auth, baseUrl }: ModelServer): Record<string, string> {
  const bearer = { authorization: `Bearer ${apiKey}` }
  if (auth !== 'x-api-key') return bearer
  const isAlone = KEY_HEADER_ALONE.test(new URL(baseUrl).hostname)
  const version = { 'anthropic-version': ANTHROPIC_VERSION }
  return { 'x-api-key': apiKey, ...version, ...(!isAlone && bearer) }
}

/** The base URL without slashes at its end. */
export const baseOf = ({ baseUrl }: ModelServer) => baseUrl.replace(/(?<!\/)\/+$/, '')

/** Attributes of a call's span according to the semantic conventions for generative AI. */
export function spanAttributes(
  operation: 'chat' | 'embeddings',
  { model, baseUrl }: { model: string; baseUrl: string },
  api?: ChatApi,
) {
  const { hostname, port, protocol } = new URL(baseUrl)
  return {
    'gen_ai.operation.name': operation,
    // Names the protocol, whatever the server is.
    'gen_ai.provider.name': api === 'messages' ? 'anthropic' : 'openai',
    'gen_ai.request.model': model,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  }
}

/**
 * The text of an answer that does not stream, without retries; cut after `maxAnswerBytes`. Throws UpstreamFailure or
 * the abort reason.
 */
export async function readAnswerText(
  send: (signal: AbortSignal) => Promise<Response>,
  { deadlineMs, maxAnswerBytes }: { deadlineMs: number; maxAnswerBytes: number },
  signal: AbortSignal,
): Promise<string> {
  const work = async (stop: AbortSignal) => readText((await send(stop)).body ?? [], maxAnswerBytes)
  const late = () => new UpstreamFailure({ kind: 'timeout' })
  const answer = await withDeadline(deadlineMs, work, late, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    throw toUpstreamFailure(error)
  })
  if (answer.trimStart().startsWith('<')) throw new UpstreamFailure({ kind: 'web-page' })
  return answer
}

/** Asks at a path of the server: a POST, or a GET if there is no body. */
export async function askJson(
  server: ModelServer,
  path: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const sent = body && { method: 'POST', body: JSON.stringify(body) }
  const message = await send(server, new URL(baseOf(server) + path), { ...sent, signal })
  return toResponse(message, Readable.toWeb(decoded(message)))
}

/** Asks for an answer. Throws UpstreamFailure. */
export function askForAnswer(
  server: ModelServer,
  { path, version = '' }: Pick<Protocol, 'path' | 'version'>,
  body: object,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const base = baseOf(server)
  const url = new URL(`${base.endsWith(version) ? base : base + version}${path}`)
  return send(server, url, { method: 'POST', body: JSON.stringify(body), signal })
}

function toResponse(message: IncomingMessage, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { status: message.statusCode ?? 200, headers: headersOf(message) })
}

function headersOf({ headers }: IncomingMessage): Headers {
  return new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/**
 * Sends a request, with headers of our own. Throws UpstreamFailure if the connection fails or the status is not 2xx. It
 * uses Node's HTTP client: that has no timeouts of its own, goes through the proxy that the environment names, and
 * follows no redirect, which would turn the POST into a GET and make the failure hard to understand.
 */
async function send(
  server: ModelServer,
  url: URL,
  { method = 'GET', body, signal }: RequestInit,
): Promise<IncomingMessage> {
  const bytes = Buffer.from(typeof body === 'string' ? body : '')
  const options = {
    method,
    agent: url.protocol === 'https:' ? httpsAgent : httpAgent,
    ...(signal && { signal }),
    headers: {
      ...authHeaders(server),
      'content-type': 'application/json',
      'content-length': bytes.length,
      accept: 'text/event-stream, application/json',
      'accept-encoding': 'identity',
      'user-agent': 'agent-server',
      ...traceHeaders(),
    },
  }
  let isReused = false
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = (url.protocol === 'https:' ? https : http).request(url, options, resolve)
      request.end(bytes).on('error', (error) => {
        isReused = request.reusedSocket
        reject(toUpstreamFailure(error, 'unreachable'))
      })
    })
  const message = await ask().catch((failure: UpstreamFailure) => {
    // The server closed an idle connection just as it was reused: retry at once, as this is not a failure.
    if (isReused && failure.facts.kind === 'connection') return ask()
    throw failure
  })
  const { statusCode: status = 0 } = message
  if (status >= 200 && status <= 299) return message
  throw failureOfStatus(
    status,
    headersOf(message),
    await readText(decoded(message), MAX_ERROR_BYTES),
  )
}

/** Reads the body up to `maxBytes`; closes the connection if there is more. */
async function readText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes >= maxBytes) break
  }
  return Buffer.concat(parts).toString('utf8', 0, maxBytes)
}
