import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { withDeadline } from '@agent-server/lib/abort.ts'
import { traceHeaders } from '@agent-server/lib/tracing.ts'
import type { OpenAI } from 'openai'
import { failureOfStatus, toUpstreamFailure, UpstreamFailure } from './failures.ts'

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
/** The SDK's own deadline, for which there are others here; the longest that a timer can have. */
const NEVER_MS = 2 ** 31 - 1

export interface ModelServer {
  apiKey: string
  /** The address before the path of a request. */
  baseUrl: string
}

const clients = new WeakMap<ModelServer, Promise<OpenAI>>()

/** The SDK's client of a server, one for each object; nothing of it comes from the environment. */
export function clientOf(server: ModelServer): Promise<OpenAI> {
  const client = clients.get(server) ?? openClient(server)
  clients.set(server, client)
  return client
}

async function openClient({ apiKey, baseUrl }: ModelServer): Promise<OpenAI> {
  // With the first request: a server whose models are built in does without it.
  const { OpenAI: Client } = await import('openai')
  return new Client({
    apiKey,
    baseURL: baseUrl.replace(/\/+$/, ''),
    // Of the SDK's headers none is sent: some come from the environment.
    fetch: (url, init) => fetchUpstream(url, apiKey, init),
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
  })
}

/** Attributes of a call's span according to the semantic conventions for generative AI. */
export function spanAttributes(
  operation: 'chat' | 'embeddings',
  { model, baseUrl }: { model: string; baseUrl: string },
) {
  const { hostname, port, protocol } = new URL(baseUrl)
  return {
    'gen_ai.operation.name': operation,
    // Names the protocol, whatever the server is.
    'gen_ai.provider.name': 'openai',
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

/** Asks at a path that the SDK does not know: a POST, or a GET if there is no body. */
export function askJson(
  { apiKey, baseUrl }: ModelServer,
  path: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const url = baseUrl.replace(/\/+$/, '') + path
  const sent = body && { method: 'POST', body: JSON.stringify(body) }
  return fetchUpstream(url, apiKey, { ...sent, signal })
}

/**
 * `fetch` for the SDK, with headers of its own. Throws UpstreamFailure if the connection fails or the status is not
 * 2xx. It uses Node's HTTP client: that has no timeouts of its own, goes through the proxy that the environment names,
 * and follows no redirect, which would turn the POST into a GET and make the failure hard to understand.
 */
async function fetchUpstream(
  input: string | URL | Request,
  apiKey: string,
  { method = 'GET', body, signal }: RequestInit = {},
): Promise<Response> {
  const url = new URL(typeof input === 'object' && 'url' in input ? input.url : input)
  const bytes = Buffer.from(typeof body === 'string' ? body : '')
  const options = {
    method,
    agent: url.protocol === 'https:' ? httpsAgent : httpAgent,
    ...(signal && { signal }),
    headers: {
      authorization: `Bearer ${apiKey}`,
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
  const fields = Object.entries(message.headers)
  const received = new Headers(fields.map(([name, value]) => [name, String(value)]))
  if (status < 200 || status > 299) {
    throw failureOfStatus(status, received, await readText(message, MAX_ERROR_BYTES))
  }
  return new Response(Readable.toWeb(message), { status, headers: received })
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
