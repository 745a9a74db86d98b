import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'
import { pause, untilAborted } from '@agent-server/lib/abort.ts'
import { type Environment, expandVariables } from '@agent-server/lib/environment.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { type GuardedFetch, outboundCause } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import type { ToolProgress } from '@agent-server/wire'
import {
  type CallToolResult,
  Client,
  ClientCredentialsProvider,
  type FetchLike,
  type InputRequiredResult,
  isInputRequiredResult,
  type JsonSchemaValidator,
  type ReadResourceResult,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import type { AnsweredCall, Elicited } from '../tools/elicitation.ts'
import { elicitationParams, readElicited } from './elicitation.ts'
import { withMending } from './mend-messages.ts'
import type { McpServer } from './settings.ts'

const READ_MS = 20_000
/** Maximum pages of a tool list. */
const MAX_PAGES = 16
/** The total time of one call, even if it reports progress. */
const MAX_CALL_MS = 600_000
/** How often a server may put a call off without asking anything, and how long it is given each time. */
const MAX_ATTEMPTS = 10
const ATTEMPT_MS = 250
const LISTEN_AGAIN_MS = 5_000
const CLIENT = { name: 'agent-server', version: '1' }

export type RemoteTool = Tool
type TransportKind = 'streamable-http' | 'sse'
export type Fetch = GuardedFetch['fetch']

interface SessionEvents {
  /** The server announced that its tools have changed. */
  toolsChanged(): void
  /** Something went wrong; whether the server still answers must be checked. */
  trouble(): void
}

export interface RemoteCall {
  tool: RemoteTool
  input: Record<string, unknown>
  /** The call is given up after this long without progress; each progress notification restarts the time. */
  idleMs: number
  /** If the server asked something before: its questions and the answers. */
  answered?: AnsweredCall | undefined
  progressed?: ((progress: ToolProgress) => void) | undefined
}

/** A finished call, or the questions of the server before it continues. */
export type CallOutcome = { result: CallToolResult } | { elicited: Elicited }

/** Connects with the first transport that the server speaks. Throws the last failure, or the signal's reason. */
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
  const transport = withMending(createTransport(kind, target))
  try {
    await untilAborted(client.connect(transport, { signal }), signal)
  } catch (error) {
    await client.close()
    throw error
  }
  return toSession(kind, client, events, target.listMs)
}

/** Results are not validated: a server that chose both a pattern and the text could block this process forever. */
function acceptAnything<Data>(): JsonSchemaValidator<Data> {
  // The interface promises a type that nobody here relies on: results are read as text.
  return (input) => ({ valid: true, data: input as Data, errorMessage: undefined })
}

/** Aborts the call that a request belongs to, for those who notice that no answer will come. */
const runningCall = new AsyncLocalStorage<AbortController>()

/** Without this, a call whose answer breaks off would wait until its timeout. */
class EndingTransport extends StreamableHTTPClientTransport {
  override send(...[message, options]: Parameters<StreamableHTTPClientTransport['send']>) {
    const call = runningCall.getStore()
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.()
      // After an answer, this changes nothing.
      call?.abort(new SdkError(SdkErrorCode.ConnectionClosed, 'The answer broke off'))
    }
    return super.send(message, { ...options, onRequestStreamEnd })
  }
}

/** An answer that is too large would be too large again, so its call ends although its stream could be resumed. */
async function* endIfTooLarge(body: AsyncIterable<Uint8Array>) {
  try {
    yield* body
  } catch (error) {
    const cause = outboundCause(error)
    if (cause?.kind === 'too_large') runningCall.getStore()?.abort(cause)
    throw error
  }
}

function createTransport(kind: TransportKind, target: SessionTarget): Transport {
  const { url, oauth, account } = target
  const provider = account ?? (oauth && createProvider(oauth))
  const options = {
    fetch: withHeaders(target),
    ...(provider && { authProvider: provider, onInsufficientScope: 'throw' as const }),
  }
  return kind === 'sse' ? new SSEClientTransport(url, options) : new EndingTransport(url, options)
}

function createProvider({ issuer, scope, ...client }: NonNullable<SessionTarget['oauth']>) {
  const { clientId = '', clientSecret = '' } = client
  return new ClientCredentialsProvider({
    clientId,
    clientSecret,
    ...(scope !== undefined && { scope }),
    // Without an issuer, the secret goes to whichever authorisation server the MCP server names.
    ...(issuer !== undefined && { expectedIssuer: issuer }),
  })
}

/** The configured headers go only to the server itself, not to the authorisation server that it names. */
export function withHeaders({ url: { origin }, headers, fetch }: SessionTarget): FetchLike {
  return async (url, { method, headers: ownHeaders, body, redirect, signal } = {}) => {
    const all = new Headers(new URL(url).origin === origin ? headers : {})
    for (const [name, value] of new Headers(ownHeaders)) all.set(name, value)
    const text = body instanceof URLSearchParams ? body.toString() : body
    if (text && typeof text !== 'string') throw new TypeError('Only text is sent to an MCP server')
    const response = await fetch(url, { method, headers: all, body: text, redirect, signal })
    return response.ok && response.body ? readable(response, response.body) : response
  }
}

/** The answer with a type that the client reads: some servers call JSON plain text, or leave the type out. */
function readable({ status, statusText, headers }: Response, body: ReadableStream): Response {
  const answered = new Headers(headers)
  if (/^(?:text\/plain\b|$)/i.test(headers.get('content-type') ?? '')) {
    answered.set('content-type', 'application/json')
  }
  const rest = ReadableStream.from(endIfTooLarge(body))
  return new Response(rest, { status, statusText, headers: answered })
}

export type McpSession = ReturnType<typeof toSession>

/** A session with one server over one transport. */
function toSession(
  transport: TransportKind,
  client: Client,
  events: SessionEvents,
  listMs: number,
) {
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
    /** Lists all tools, which also proves that the server is alive. */
    async listTools(signal: AbortSignal): Promise<RemoteTool[]> {
      const all = AbortSignal.any([signal, AbortSignal.timeout(listMs)])
      const options = { signal: all, timeout: listMs, cacheMode: 'refresh' as const }
      return (await client.listTools({}, options)).tools
    },
    async callTool(
      { tool, input, idleMs, answered, progressed }: RemoteCall,
      signal: AbortSignal,
    ): Promise<CallOutcome> {
      const broken = new AbortController()
      const options = {
        signal: AbortSignal.any([signal, broken.signal]),
        toolDefinition: tool,
        allowInputRequired: true,
        timeout: idleMs,
        maxTotalTimeout: MAX_CALL_MS,
        // Requesting progress makes the server report it, which restarts the timeout.
        onprogress: (progress: ToolProgress) => progressed?.(progress),
        resetTimeoutOnProgress: true,
      }
      let lastAnswers = answered
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const params = {
          name: tool.name,
          arguments: input,
          ...elicitationParams(client, lastAnswers),
        }
        const result: CallToolResult | InputRequiredResult = await runningCall
          .run(broken, () => client.callTool(params, options))
          .catch((error: unknown) => {
            broken.signal.throwIfAborted()
            throw error
          })
        if (!isInputRequiredResult(result)) return { result }
        const elicited = readElicited(result)
        if (elicited.elicitations.length > 0) return { elicited }
        await pause(ATTEMPT_MS, signal)
        lastAnswers = { ...elicited, answers: {} }
      }
      throw new Refusal('The server did not finish the call')
    },
    readResource: (uri: string, signal: AbortSignal): Promise<ReadResourceResult> =>
      client.readResource({ uri }, { signal, timeout: READ_MS }),
    async close(): Promise<void> {
      closing = true
      await client.close()
    },
  }
}

/**
 * Reopens the stream of change notifications, which ends when anything on the way restarts; since a change may have
 * been missed, `toolsChanged` is called after it is reopened.
 */
async function keepListening(
  client: Client,
  events: SessionEvents,
  isClosing: () => boolean,
): Promise<void> {
  let subscription = client.autoOpenedSubscription
  while (subscription && (await subscription.closed) === 'remote' && !isClosing()) {
    await setTimeout(LISTEN_AGAIN_MS, undefined, { ref: false })
    subscription = await ignore(
      client.listen(subscription.honoredFilter),
      'the server is checked instead',
    )
    if (isClosing()) return
    if (subscription) events.toolsChanged()
    else events.trouble()
  }
}

const REFUSED_AS_CALLER = [401, 403, 407, 408, 429]

/**
 * Whether to try an older transport: an older server answers 4xx to a request that it does not know. A server that is
 * down, or that wants a key, need not be older.
 */
function speaksOtherwise(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false
  const { status } = error
  return status >= 400 && status < 500 && !REFUSED_AS_CALLER.includes(status)
}

/** Gives the token of one account to the transport of one session. */
export interface TokenSource {
  token(): Promise<string>
  /** Called when the server refuses the token. */
  onUnauthorized(): Promise<void>
  /** The last token, which nothing may show. */
  lastToken(): string | undefined
}

export type SessionTarget = ReturnType<typeof toSessionTarget> & {
  /** The account of a person, in place of one of this server. */
  account?: TokenSource | undefined
}

/**
 * Where and how to connect, with variables filled in; `fetch` is the guarded one, which reaches only allowed addresses.
 * Throws `MissingVariable`.
 */
export function toSessionTarget(
  { url, type, headers, oauth, listTimeout }: McpServer,
  environment: Environment,
  fetch: Fetch,
) {
  const fill = (text: string) => expandVariables(text, environment)
  const filled = Object.entries(headers).map(([name, value]) => [name, fill(value).trim()])
  const transports: TransportKind[] = []
  // A server without a configured type may speak either transport: the current one is tried first.
  if (type !== 'sse') transports.push('streamable-http')
  if (type === undefined || type === 'sse') transports.push('sse')
  return {
    fetch,
    transports,
    listMs: listTimeout * 1_000,
    url: new URL(fill(url)),
    headers: Object.fromEntries(filled) as Record<string, string>,
    oauth: oauth && {
      ...oauth,
      clientId: oauth.clientId === undefined ? undefined : fill(oauth.clientId),
      clientSecret: oauth.clientSecret === undefined ? undefined : fill(oauth.clientSecret),
    },
  }
}
