import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Response as Answer, Dispatcher } from 'undici'
import { boundBody } from '../bounded-body.ts'
import { traceHeaders } from '../tracing.ts'
import { literalAddress, type OutboundPolicy } from './policy.ts'

const CONNECT_MS = 10_000
const TIMEOUT_CODES = /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/
const USER_AGENT = 'agent-server'

export interface OutboundBounds {
  /** The most bytes of an answer that are read, once decompressed. */
  maxBytes: number
  /** The longest silence: before the head of the answer, and between two parts of its body. */
  idleMs: number
  /** For the whole call, redirects and body included; absent for streams that stay open. */
  totalMs?: number
}

export interface OutboundRequest {
  method?: string | undefined
  headers?: Headers | Record<string, string> | undefined
  body?: string | Uint8Array<ArrayBuffer> | URLSearchParams | null | undefined
  /** As for `fetch`. A redirect to another origin loses `Authorization` and `Cookie`, and no other header: with another secret, pass `error`. */
  redirect?: 'follow' | 'error' | 'manual' | undefined
  signal?: AbortSignal | null | undefined
}

export type GuardedFetch = ReturnType<typeof createGuardedFetch>

/**
 * A `fetch` that reaches public addresses and those that the policy lists, and nothing else: literal addresses
 * are checked at each request, redirects included, and the addresses of a name where it is connected to, so
 * that no second answer of its name server can slip in between.
 */
export function createGuardedFetch(policy: OutboundPolicy, bounds: OutboundBounds) {
  // Loaded with the first call: many servers never make one.
  let loaded: ReturnType<typeof load> | undefined
  const load = async () => {
    const { Agent, fetch } = await import('undici')
    const agent = new Agent({
      connect: { lookup: guardedLookup(policy), timeout: CONNECT_MS },
      headersTimeout: bounds.idleMs,
      bodyTimeout: bounds.idleMs,
    })
    return { agent, dispatcher: agent.compose(guardLiterals(policy)), fetch }
  }
  return {
    /**
     * `fetch` for URLs that somebody else chose. Throws `OutboundError`, while reading the body, too; an
     * aborted signal ends it with the signal's reason.
     */
    async fetch(url: string | URL, request: OutboundRequest = {}): Promise<Response> {
      const { method = 'GET', headers, body, redirect = 'follow', signal } = request

      const target = parseUrl(url)
      const limit = limitTime(bounds, signal ?? undefined)
      const explain = (error: unknown) =>
        explainFailure(error, target.hostname, signal ?? undefined)
      try {
        loaded ??= load()
        const { dispatcher, fetch } = await loaded
        const response = await fetch(target, {
          ...{ dispatcher, method, redirect, signal: limit },
          headers: withOwnHeaders(headers),
          body: body ?? null,
        })
        return wrapResponse(response, target.hostname, bounds.maxBytes, explain)
      } catch (error) {
        throw explain(error)
      }
    },
    /** Gives up every open connection. */
    close: async () => await (await loaded)?.agent.destroy(),
  }
}

/** Says why a URL cannot be called whatever its name resolves to; nothing if it may be. For an early answer: `fetch` checks again. */
export function refusalOf(url: string | URL, policy: OutboundPolicy): OutboundError | undefined {
  try {
    checkHost(parseUrl(url).hostname, policy)
    return undefined
  } catch (error) {
    return outboundCause(error)
  }
}

function parseUrl(url: string | URL): URL {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new OutboundError('forbidden', 'Only http:// and https:// URLs can be called')
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new OutboundError('forbidden', 'A URL with a user or a password in it is not called')
  }
  return parsed
}

function checkHost(hostname: string, policy: OutboundPolicy): void {
  const address = literalAddress(hostname)
  if (address === undefined || policy.allowsAddress(address)) return
  throw forbidden(hostname)
}

function forbidden(hostname: string): OutboundError {
  return new OutboundError(
    'forbidden',
    `${hostname} is not a public address; OUTBOUND_ALLOW must name it before it can be called`,
  )
}

/** Where the host is an address nothing is looked up, so it is checked here, before each request. */
function guardLiterals(policy: OutboundPolicy): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    checkHost(new URL(String(options.origin)).hostname, policy)
    return dispatch(options, handler)
  }
}

function guardedLookup(policy: OutboundPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0)
      const allowed = policy.allowsName(hostname)
        ? found
        : found.filter(({ address }) => policy.allowsAddress(address))
      const [first] = allowed
      if (!first) return callback(forbidden(hostname), '', 0)
      if (options.all) return callback(null, allowed)
      return callback(null, first.address, first.family)
    })
  }
}

function limitTime({ totalMs }: OutboundBounds, signal: AbortSignal | undefined) {
  const total = totalMs === undefined ? [] : [AbortSignal.timeout(totalMs)]
  return AbortSignal.any([...total, ...(signal ? [signal] : [])])
}

function withOwnHeaders(headers: OutboundRequest['headers']): Headers {
  const all = new Headers(headers)
  if (!all.has('user-agent')) all.set('user-agent', USER_AGENT)
  for (const [name, value] of Object.entries(traceHeaders())) all.set(name, value)
  return all
}

type Explain = (error: unknown) => unknown

/** A `Response` of this process's own kind, whose body is bounded and fails in our words. */
function wrapResponse(
  response: Answer,
  hostname: string,
  maxBytes: number,
  explain: Explain,
): Response {
  const { status, statusText, headers, url, redirected } = response
  const tooLarge = () =>
    new OutboundError('too_large', `The answer of ${hostname} is larger than ${maxBytes} bytes`)
  const body = response.body && boundBody(response.body, { maxBytes, tooLarge, explain })
  const wrapped = new Response(body, { status, statusText, headers: [...headers] })
  // Only `fetch` itself can say where an answer came from.
  return Object.defineProperties(wrapped, {
    url: { value: url },
    redirected: { value: redirected },
  })
}

function explainFailure(error: unknown, hostname: string, signal: AbortSignal | undefined) {
  if (signal?.aborted) return signal.reason
  const known = outboundCause(error)
  if (known) return known
  const timedOut = isTimeout(error)
  return new OutboundError(
    timedOut ? 'timeout' : 'unreachable',
    timedOut ? `${hostname} did not answer in time` : `${hostname} could not be reached`,
    { cause: error },
  )
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'TimeoutError') return true
  if ('code' in error && TIMEOUT_CODES.test(String(error.code))) return true
  return isTimeout(error.cause)
}

/** Why a call to somewhere outside gave no answer. */
type OutboundErrorKind =
  /** The address is not public and OUTBOUND_ALLOW does not name it, or the URL is none to be called. */
  | 'forbidden'
  /** No connection, a broken one, or an answer that is not HTTP. */
  | 'unreachable'
  /** No answer, or no more of it, in the time there is. */
  | 'timeout'
  /** The answer is larger than is read. */
  | 'too_large'

/** `message` may be shown: it names the host and what to do, never a path, a query or the other side's words. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly kind: OutboundErrorKind

  constructor(kind: OutboundErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}

/** The `OutboundError` that an error is, or that lies beneath it. */
export function outboundCause(error: unknown): OutboundError | undefined {
  if (error instanceof OutboundError) return error
  return error instanceof Error ? outboundCause(error.cause) : undefined
}
