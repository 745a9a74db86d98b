import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Response as Answer, Dispatcher } from 'undici'
import { boundBody } from '../bounded-body.ts'
import { codeOf } from '../system-error.ts'
import { traceHeaders } from '../tracing.ts'
import { literalAddress, type OutboundPolicy } from './policy.ts'

const CONNECT_MS = 10_000
const TIMEOUT_CODES = /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/
const USER_AGENT = 'agent-server'

export interface OutboundBounds {
  /** The maximum size of a response body in bytes, after decompression. */
  maxBytes: number
  /** The idle timeout: before the response headers, and between two parts of the body. */
  idleMs: number
  /** The timeout of the whole call, with redirects and body; absent for streams that stay open. */
  totalMs?: number
}

export interface OutboundRequest {
  method?: string | undefined
  headers?: Headers | Record<string, string> | undefined
  body?: string | Uint8Array<ArrayBuffer> | URLSearchParams | null | undefined
  /**
   * As for `fetch`. A redirect to another origin drops only `Authorization` and `Cookie`: with any other secret header,
   * pass `error`.
   */
  redirect?: 'follow' | 'error' | 'manual' | undefined
  signal?: AbortSignal | null | undefined
}

export type GuardedFetch = ReturnType<typeof createGuardedFetch>

/**
 * Creates a `fetch` that reaches only public addresses and those that the policy lists. IP addresses in URLs are
 * checked on each request, redirects included; host names are resolved and checked in the connection's own lookup,
 * so that no second DNS answer can slip in between (DNS rebinding).
 */
export function createGuardedFetch(policy: OutboundPolicy, bounds: OutboundBounds) {
  // Loaded on the first call: many servers never make one.
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
     * `fetch` for URLs chosen by others. Throws `OutboundError`, also while the body is read, and the signal's
     * reason if it aborts.
     */
    async fetch(url: string | URL, request: OutboundRequest = {}): Promise<Response> {
      const { method = 'GET', headers, body, redirect = 'follow', signal } = request

      const target = parseUrl(url)
      const limit = limitTime(bounds, signal ?? undefined)
      const explain = (error: unknown) => explainFailure(error, target.host, signal ?? undefined)
      try {
        loaded ??= load()
        const { dispatcher, fetch } = await loaded
        const response = await fetch(target, {
          dispatcher,
          method,
          redirect,
          signal: limit,
          headers: withOwnHeaders(headers),
          body: body ?? null,
        })
        return wrapResponse(response, target.hostname, bounds.maxBytes, explain)
      } catch (error) {
        throw explain(error)
      }
    },
    /** Destroys every open connection. */
    close: async () => await (await loaded)?.agent.destroy(),
  }
}

/**
 * Why a URL may not be called, whatever its host resolves to; undefined if it may. For an early answer: `fetch`
 * checks again.
 */
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
    throw new OutboundError('forbidden', 'URLs with a user name or a password are not allowed')
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
    `${hostname} is not a public address; add it to OUTBOUND_ALLOW to allow it`,
    { unlistedHost: hostname },
  )
}

/** An IP address as host is never looked up, so it is checked here, before each request. */
function guardLiterals(policy: OutboundPolicy): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    checkHost(new URL(String(options.origin)).hostname, policy)
    return dispatch(options, handler)
  }
}

function guardedLookup(policy: OutboundPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const allowed = policy.allowsName(hostname)
        ? addresses
        : addresses.filter(({ address }) => policy.allowsAddress(address))
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

/** A standard `Response` whose body is bounded and fails with our errors. */
function wrapResponse(
  response: Answer,
  hostname: string,
  maxBytes: number,
  explain: Explain,
): Response {
  const { status, statusText, headers, url, redirected } = response
  const tooLarge = () =>
    new OutboundError('too_large', `The response from ${hostname} is larger than ${maxBytes} bytes`)
  const body = response.body && boundBody(response.body, { maxBytes, tooLarge, explain })
  const wrapped = new Response(body, { status, statusText, headers: [...headers] })
  // The constructor of `Response` cannot set these.
  return Object.defineProperties(wrapped, {
    url: { value: url },
    redirected: { value: redirected },
  })
}

function explainFailure(error: unknown, host: string, signal: AbortSignal | undefined) {
  if (signal?.aborted) return signal.reason
  const cause = outboundCause(error)
  if (cause) return cause
  const timedOut = isTimeout(error)
  return new OutboundError(
    timedOut ? 'timeout' : 'unreachable',
    timedOut ? `${host} did not respond in time` : `${host} could not be reached`,
    { cause: error },
  )
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'TimeoutError') return true
  if (TIMEOUT_CODES.test(codeOf(error) ?? '')) return true
  return isTimeout(error.cause)
}

/** Why an outbound call failed. */
type OutboundErrorKind =
  /** The address is neither public nor listed in OUTBOUND_ALLOW, or the URL cannot be called at all. */
  | 'forbidden'
  /** No connection, a broken connection, or a response that is not HTTP. */
  | 'unreachable'
  /** The response, or the rest of it, did not come in time. */
  | 'timeout'
  /** The response exceeds the maximum size. */
  | 'too_large'

/** `message` may be shown: it names the host and a remedy, never a path, a query or text from the other side. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly kind: OutboundErrorKind
  /** The host that OUTBOUND_ALLOW would have to list. */
  readonly unlistedHost: string | undefined

  constructor(
    kind: OutboundErrorKind,
    message: string,
    options: { cause?: unknown; unlistedHost?: string } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.unlistedHost = options.unlistedHost
  }
}

/** The `OutboundError` that an error is or has among its causes. */
export function outboundCause(error: unknown): OutboundError | undefined {
  if (error instanceof OutboundError) return error
  return error instanceof Error ? outboundCause(error.cause) : undefined
}
