import type { IncomingMessage } from 'node:http'
import { AppError } from '@agent-server/lib/errors.ts'
import type { FastifyRequest } from 'fastify'

/** The path to which a browser's request for `/` is routed: the web UI's page. */
export const PAGE_PATH = '/ui/page'
/** Prefix under which the web UI reaches the whole API, with the session cookie in place of a key. */
const API_PREFIX = '/ui/api'
/** The only paths to which browsers send the cookie. */
const COOKIE_PATH = '/ui'
/** Under which people sign in with their company's account. */
export const SIGN_IN_PATH = '/ui/sign-in'
/** Forms and images cannot send headers, and pages of other origins only those that CORS allows. */
const WEB_UI_HEADER = 'x-agent-server-web-ui'

const fromWebUi = new WeakSet<IncomingMessage>()

/**
 * Fastify's `rewriteUrl`. The API is not registered twice: a request below the web UI's path is marked and goes to
 * the same routes, and the mark decides whether a cookie or a key is needed.
 */
export function rewriteWebUiUrl(request: IncomingMessage): string {
  const { url = '/', method, headers } = request
  if (url.startsWith(`${API_PREFIX}/`)) {
    fromWebUi.add(request)
    return url.slice(API_PREFIX.length)
  }
  const isPage = /^\/(?:\?|$)/.test(url) && (method === 'GET' || method === 'HEAD')
  return isPage && acceptsHtml(headers.accept) ? PAGE_PATH : url
}

function acceptsHtml(accept = ''): boolean {
  return accept.split(',').some((range) => range.split(';', 1)[0]?.trim() === 'text/html')
}

/** Whether the request came through the web UI's own path. */
export function isFromWebUi({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return fromWebUi.has(raw)
}

/**
 * Refuses requests that another page may have sent, with `origin_not_allowed`. Browsers say in `Sec-Fetch-Site` where
 * a request comes from, which no page can forge, but only to trustworthy addresses: HTTPS and loopback. Elsewhere the
 * `Origin` of a write must be this server. `SameSite=Strict` alone would let in pages from other ports of the host.
 */
export function checkSameOrigin({ headers, method, host }: FastifyRequest): void {
  const isReading = method === 'GET' || method === 'HEAD'
  const site = headers['sec-fetch-site']
  const originHost = URL.parse(headers.origin ?? '')?.host
  const isSameOrigin =
    site === undefined ? isReading || originHost === host : site === 'same-origin'
  if (isSameOrigin && (isReading || headers[WEB_UI_HEADER] !== undefined)) return
  throw new AppError('origin_not_allowed', 'Only the web UI itself can make this request')
}

/** Names the port, because all servers on a host share its cookies. */
function cookieName({ raw: { socket } }: FastifyRequest): string {
  return `agent-server-${socket.localPort ?? 0}`
}

/** The session in the request's cookie; undefined if there is none. */
export function sessionOf(request: FastifyRequest): string | undefined {
  return cookieIn(request, cookieName(request))
}

/** What the browser brings back from the issuer; undefined if it went there from another one, or too long ago. */
export function pendingSignInOf(request: FastifyRequest): string | undefined {
  return cookieIn(request, pendingName(request))
}

const pendingName = (request: FastifyRequest) => `${cookieName(request)}-sign-in`

function cookieIn({ headers }: FastifyRequest, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim())
  const [own, ...others] = cookies.filter((cookie) => cookie.startsWith(`${name}=`))
  // Of two, one was set by somebody else on the host, and nothing says which.
  return others.length > 0 ? undefined : own?.slice(name.length + 1)
}

interface Cookie {
  value: string
  seconds: number
  /** The origin at which browsers reach the server: a proxy need not say that it speaks HTTPS. */
  publicUrl: string | undefined
}

const isSecure = ({ headers, protocol }: FastifyRequest, { publicUrl }: Cookie) =>
  publicUrl?.startsWith('https:') || headers.origin?.startsWith('https:') || protocol === 'https'

/** `Secure` if the page was loaded over HTTPS, also through a proxy; over plain HTTP a browser would drop such a cookie. */
export function sessionCookie(request: FastifyRequest, cookie: Cookie): string {
  const { value, seconds } = cookie
  const attributes = [`Path=${COOKIE_PATH}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict']
  if (isSecure(request, cookie)) attributes.push('Secure')
  return [`${cookieName(request)}=${value}`, ...attributes].join('; ')
}

/** Sent to the sign-in alone, and, other than that of a session, also when the issuer sends the browser back. */
export function pendingCookie(request: FastifyRequest, cookie: Cookie): string {
  const { value, seconds } = cookie
  const attributes = [`Path=${SIGN_IN_PATH}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax']
  if (isSecure(request, cookie)) attributes.push('Secure')
  return [`${pendingName(request)}=${value}`, ...attributes].join('; ')
}
