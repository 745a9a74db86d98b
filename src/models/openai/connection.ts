import type { IncomingMessage } from 'node:http'
import { startDeadline } from '../../lib/abort.ts'
import { traceHeaders } from '../../lib/tracing.ts'
import { failureOfStatus, toUpstreamFailure, UpstreamFailure } from './failures.ts'

// An import would load all of Node's own fetch, which hangs on it: 16 MB, and as long as Node itself takes to start.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

/**
 * How long a connection waits for the next request, where its server does not name a shorter time: longer than people
 * read an answer, shorter than the idle limit of common load balancers (60 s). By itself Node waits 5 s, after which
 * the next chat would pay for TCP and TLS again.
 */
const KEEP_ALIVE_MS = 55_000
/** With what Node's own agents know of proxies (`NODE_USE_ENV_PROXY`), which the types do not know. */
const keepLonger = (agent: object) => ({ ...Object(agent).options, timeout: KEEP_ALIVE_MS })
const httpAgent = new http.Agent(keepLonger(http.globalAgent))
const httpsAgent = new https.Agent(keepLonger(https.globalAgent))

const MAX_ERROR_BYTES = 64 * 2 ** 10

export interface ModelServer {
  apiKey: string
  /** The address before the path of a request. */
  baseUrl: string
}

/** What the semantic conventions for generative AI ask of the span of a call. */
export function spanAttributes(
  operation: 'chat' | 'embeddings',
  { model, baseUrl }: { model: string; baseUrl: string },
) {
  const { hostname, port, protocol } = new URL(baseUrl)
  return {
    'gen_ai.operation.name': operation,
    // Whose dialect is spoken, whoever the server is.
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  }
}

interface JsonRequest extends ModelServer {
  path: string
  /** Without one, it is a GET. */
  body?: object
  /** The answer is given up after that long. */
  deadlineMs: number
  /** More of an answer is not read. */
  maxAnswerBytes: number
}

/** One request, tried once: the body of the answer. Throws UpstreamFailure, or what `signal` was aborted with. */
export async function requestJson(
  { path, body, deadlineMs, maxAnswerBytes, ...server }: JsonRequest,
  signal: AbortSignal,
): Promise<string> {
  using deadline = startDeadline(deadlineMs, signal)
  try {
    const bytes = body && Buffer.from(JSON.stringify(body))
    const message = await send(server, path, bytes, deadline.signal)
    const answer = await readText(message, maxAnswerBytes)
    if (answer.trimStart().startsWith('<')) throw new UpstreamFailure({ kind: 'web-page' })
    return answer
  } catch (error) {
    signal.throwIfAborted()
    throw deadline.isOver ? new UpstreamFailure({ kind: 'timeout' }) : toUpstreamFailure(error)
  }
}

/**
 * Sends a POST, or without a body a GET, and resolves with the head of the answer. Throws UpstreamFailure for a status outside 2xx.
 * Node's own client instead of `fetch`: it takes half a millisecond less to the first byte, bounds no silence,
 * and follows no redirect, which would turn the POST into a GET, and the failure into a riddle.
 */
export async function send(
  { apiKey, baseUrl }: ModelServer,
  path: string,
  body: Buffer | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(baseUrl.replace(/\/+$/, '') + path)
  const method = body ? 'POST' : 'GET'
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': body?.length ?? 0,
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    'user-agent': 'agent-server',
    ...traceHeaders(),
  }
  const [client, agent] = url.protocol === 'https:' ? [https, httpsAgent] : [http, httpAgent]
  let isReused = false
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = client.request(url, { agent, method, headers, signal }, resolve)
      request.end(body).on('error', (error) => {
        isReused = request.reusedSocket
        reject(toUpstreamFailure(error, 'unreachable'))
      })
    })
  const message = await ask().catch((failure: UpstreamFailure) => {
    // Its server has closed a connection that waited, just when it was used again: that is no failure, and needs no pause.
    if (isReused && failure.facts.kind === 'connection') return ask()
    throw failure
  })
  const status = message.statusCode ?? 0
  if (status >= 200 && status <= 299) return message
  const words = await readText(message, MAX_ERROR_BYTES)
  const fields = Object.entries(message.headers)
  const sent = new Headers(fields.map(([name, value]): [string, string] => [name, String(value)]))
  throw failureOfStatus(status, sent, words)
}

/** The body, or as much of it as is allowed; where there is more, the connection is given up. */
async function readText(message: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of message) {
    parts.push(part)
    bytes += part.length
    if (bytes >= maxBytes) break
  }
  return Buffer.concat(parts).toString('utf8', 0, maxBytes)
}
