import { setTimeout } from 'node:timers/promises'
import {
  type CallToolResult,
  Client,
  ClientCredentialsProvider,
  type FetchLike,
  type JsonSchemaValidator,
  type ReadResourceResult,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import { untilAborted } from '../../lib/abort.ts'
import { type Environment, expandVariables } from '../../lib/environment.ts'
import type { GuardedFetch } from '../../lib/outbound/guarded-fetch.ts'
import type { McpServer } from './settings.ts'

const LIST_MS = 10_000
const READ_MS = 20_000
/** Pages of a list of tools. */
const MAX_PAGES = 16
/** For one call in all, also where it reports progress. */
const MAX_CALL_MS = 600_000
const LISTEN_AGAIN_MS = 5_000
const CLIENT = { name: 'agent-server', version: '1' }

export type RemoteTool = Tool
type TransportKind = 'streamable-http' | 'sse'
export type Fetch = GuardedFetch['fetch']

interface SessionEvents {
  /** The server says that its tools have changed. */
  toolsChanged(): void
  /** Something went wrong; whether the server still answers has to be asked. */
  trouble(): void
}

export interface RemoteCall {
  tool: RemoteTool
  input: Record<string, unknown>
  /** Silence after which the call is given up; progress begins it anew. */
  idleMs: number
}

/** Connects by the first transport that the server speaks. Throws what the last one failed with, or the signal's reason. */
export async function openSession(
  target: SessionTarget,
  events: SessionEvents,
  signal: AbortSignal,
): Promise<McpSession> {
  let failure: unknown
  for (const kind of target.transports) {
    try {
      return await connect(kind, target, events, signal)
    } catch (error) {
      signal.throwIfAborted()
      failure = error
      if (!speaksOtherwise(error)) break
    }
  }
  throw failure
}

async function connect(
  kind: TransportKind,
  target: SessionTarget,
  events: SessionEvents,
  signal: AbortSignal,
): Promise<McpSession> {
  const client = new Client(CLIENT, {
    versionNegotiation: { mode: 'auto' },
    listMaxPages: MAX_PAGES,
    listChanged: { tools: { autoRefresh: false, onChanged: () => events.toolsChanged() } },
    jsonSchemaValidator: { getValidator: acceptAnything },
  })
  const transport = createTransport(kind, target)
  try {
    await untilAborted(client.connect(transport, { signal }), signal)
  } catch (error) {
    await client.close()
    throw error
  }
  return toSession(kind, client, events)
}

/** A server that chose both a pattern and the text to match it could keep this process busy for ever. */
function acceptAnything<Data>(): JsonSchemaValidator<Data> {
  // The interface promises a type that nobody here relies on: results are read as text.
  return (input) => ({ valid: true, data: input as Data, errorMessage: undefined })
}

function createTransport(kind: TransportKind, target: SessionTarget): Transport {
  const { url, oauth } = target
  const provider = oauth && createProvider(oauth)
  const options = {
    fetch: withHeaders(target),
    ...(provider && { authProvider: provider, onInsufficientScope: 'throw' as const }),
  }
  return kind === 'sse'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, options)
}

function createProvider({ issuer, scope, ...client }: NonNullable<SessionTarget['oauth']>) {
  return new ClientCredentialsProvider({
    ...client,
    ...(scope !== undefined && { scope }),
    // Without an issuer the secret goes to whichever authorisation server the MCP server names.
    ...(issuer !== undefined && { expectedIssuer: issuer }),
  })
}

/** The headers of the configuration are for the server alone, not for the authorisation server that it names. */
function withHeaders({ url: { origin }, headers, fetch }: SessionTarget): FetchLike {
  return (url, { method, headers: own, body, redirect, signal } = {}) => {
    const all = new Headers(new URL(url).origin === origin ? headers : {})
    for (const [name, value] of new Headers(own)) all.set(name, value)
    const text = body instanceof URLSearchParams ? body.toString() : body
    if (text && typeof text !== 'string') throw new TypeError('Only text is sent to an MCP server')
    return fetch(url, { method, headers: all, body: text, redirect, signal })
  }
}

export type McpSession = ReturnType<typeof toSession>

/** A session with one server, by one transport. */
function toSession(transport: TransportKind, client: Client, events: SessionEvents) {
  const { name, version } = client.getServerVersion() ?? { name: 'unnamed', version: '' }
  let closing = false
  const complain = () => {
    if (!closing) events.trouble()
  }
  client.onerror = complain
  client.onclose = complain
  void keepListening(client, events, () => closing)
  return {
    transport,
    server: { name, version },
    protocol: client.getNegotiatedProtocolVersion() ?? 'unknown',
    /** Answers every tool, and proves that the server lives. */
    async listTools(signal: AbortSignal): Promise<RemoteTool[]> {
      const options = { signal, timeout: LIST_MS, cacheMode: 'refresh' as const }
      return (await client.listTools({}, options)).tools
    },
    callTool({ tool, input, idleMs }: RemoteCall, signal: AbortSignal): Promise<CallToolResult> {
      const options = {
        ...{ signal, toolDefinition: tool, timeout: idleMs, maxTotalTimeout: MAX_CALL_MS },
        // Asked for, so that the server tells and the time begins anew.
        ...{ onprogress: () => undefined, resetTimeoutOnProgress: true },
      }
      return client.callTool({ name: tool.name, arguments: input }, options)
    },
    readResource: (uri: string, signal: AbortSignal): Promise<ReadResourceResult> =>
      client.readResource({ uri }, { signal, timeout: READ_MS }),
    async close(): Promise<void> {
      closing = true
      await client.close()
    },
  }
}

/** The stream of change notifications ends when anything between the two ends restarts; a change may have been missed. */
async function keepListening(
  client: Client,
  events: SessionEvents,
  isClosing: () => boolean,
): Promise<void> {
  let subscription = client.autoOpenedSubscription
  while (subscription && (await subscription.closed) === 'remote' && !isClosing()) {
    await setTimeout(LISTEN_AGAIN_MS, undefined, { ref: false })
    subscription = await client.listen(subscription.honoredFilter).catch(() => undefined)
    if (isClosing()) return
    if (subscription) events.toolsChanged()
    else events.trouble()
  }
}

const REFUSED_AS_CALLER = [401, 403, 407, 408, 429]

/** An older server answers 4xx to a request that it does not know. One that is down, or wants a key, need not be older. */
function speaksOtherwise(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false
  const { status } = error
  return status >= 400 && status < 500 && !REFUSED_AS_CALLER.includes(status)
}

export type SessionTarget = ReturnType<typeof toSessionTarget>

/** Where and how to connect, the variables filled in; `fetch` reaches only what may be reached. Throws `MissingVariable`. */
export function toSessionTarget(
  { url, type, headers, oauth }: McpServer,
  environment: Environment,
  fetch: Fetch,
) {
  const fill = (text: string) => expandVariables(text, environment)
  const filled = Object.entries(headers).map(([name, value]) => [name, fill(value).trim()])
  const transports: TransportKind[] = []
  // A server without a type may speak either: the current way first.
  if (type !== 'sse') transports.push('streamable-http')
  if (type === undefined || type === 'sse') transports.push('sse')
  return {
    ...{ fetch, transports },
    url: new URL(fill(url)),
    headers: Object.fromEntries(filled) as Record<string, string>,
    oauth: oauth && {
      ...oauth,
      clientId: fill(oauth.clientId),
      clientSecret: fill(oauth.clientSecret),
    },
  }
}
