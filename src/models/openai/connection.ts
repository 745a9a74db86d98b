import type { IncomingMessage } from 'node:http'
import { startDeadline } from '../../lib/abort.ts'
import { traceHeaders } from '../../lib/tracing.ts'
import { failureOfStatus, toUpstreamFailure, UpstreamFailure } from './failures.ts'

// An `import` would also load Node's fetch: 16 MB of memory, and as much time as Node itself takes to start.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

/**
 * How long an idle connection is kept, unless its server asks for less: longer than people take to read an answer,
 * shorter than the idle timeout of common load balancers (60 s). Node's default is 5 s, after which the next chat
 * would need new TCP and TLS handshakes.
 */
const KEEP_ALIVE_MS = 55_000
/** Keeps the proxy options of Node's global agents (`NODE_USE_ENV_PROXY`), which are missing from the types. */
const keepLonger = (agent: object) => ({ ...Object(agent).options, timeout: KEEP_ALIVE_MS })
const httpAgent = new http.Agent(keepLonger(http.globalAgent))
const httpsAgent = new https.Agent(keepLonger(https.globalAgent))

const MAX_ERROR_BYTES = 64 * 2 ** 10

export interface ModelServer {
  apiKey: string
  /** The address before the path of a request. */
  baseUrl: string
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

interface JsonRequest extends ModelServer {
  path: string
  /** If absent, a GET is sent. */
  body?: object
  /** Deadline for the whole answer. */
  deadlineMs: number
  /** The answer is cut after this many bytes. */
  maxAnswerBytes: number
}

/** Sends one request, without retries; returns the answer's body. Throws UpstreamFailure or the abort reason. */
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
 * Sends a POST, or a GET if there is no body; resolves when the headers of the answer arrive. Throws UpstreamFailure if
 * the connection fails or the status is not 2xx. Uses Node's HTTP client rather than `fetch`: its first byte arrives
 * half a millisecond earlier, it has no idle timeout of its own, and it does not follow redirects, which would turn the
 * POST into a GET and make the failure hard to understand.
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
    // The server closed an idle connection just as it was reused: retry at once, as this is not a failure.
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

/** Reads the body up to `maxBytes`; closes the connection if there is more. */
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
