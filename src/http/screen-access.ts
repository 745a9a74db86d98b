import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

/** The page, where a browser finds it by its address, and where it is routed to. */
export const PAGE_PATH = '/ui/page'
/** Below it the screen finds the whole API, with the session's cookie in place of the key. */
const API_PREFIX = '/ui/api'
/** The only paths that browsers send the cookie to. */
const COOKIE_PATH = '/ui'
/** No form and no image can send a header, and a page of another origin only one that CORS allows. */
const SCREEN_HEADER = 'x-agent-server-screen'

const fromScreen = new WeakSet<IncomingMessage>()

/**
 * Fastify's `rewriteUrl`. The API is not registered a second time: a request below the screen's path is marked and
 * goes to the same routes, and the mark decides whether a cookie or a key lets it in.
 */
export function rewriteScreenUrl(request: IncomingMessage): string {
  const { url = '/', method, headers } = request
  if (url.startsWith(`${API_PREFIX}/`)) {
    fromScreen.add(request)
    return url.slice(API_PREFIX.length)
  }
  const isPage = /^\/(?:\?|$)/.test(url) && (method === 'GET' || method === 'HEAD')
  return isPage && acceptsHtml(headers.accept) ? PAGE_PATH : url
}

function acceptsHtml(accept = ''): boolean {
  return accept.split(',').some((range) => range.split(';', 1)[0]?.trim() === 'text/html')
}

export function isFromScreen({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return fromScreen.has(raw)
}

/**
 * Refuses what a page other than the screen may have sent. Browsers say where a request comes from in
 * `Sec-Fetch-Site`, which no page can forge, but only to addresses that they trust: HTTPS and the loopback. Elsewhere
 * the `Origin` of a write must be this server. `SameSite=Strict` alone would let in pages of other ports of the host.
 */
export function checkSameOrigin({ headers, method, host }: FastifyRequest): void {
  const isReading = method === 'GET' || method === 'HEAD'
  const site = headers['sec-fetch-site']
  const originHost = URL.parse(headers.origin ?? '')?.host
  const isSameOrigin =
    site === undefined ? isReading || originHost === host : site === 'same-origin'
  if (isSameOrigin && (isReading || headers[SCREEN_HEADER] !== undefined)) return
  throw new AppError('origin_not_allowed', 'Only the screen itself may ask this')
}

/** By port, because the cookies of a host are shared by all servers on it. */
function cookieName({ raw: { socket } }: FastifyRequest): string {
  return `agent-server-${socket.localPort ?? 0}`
}

export function sessionOf(request: FastifyRequest): string | undefined {
  const name = `${cookieName(request)}=`
  const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim())
  return cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length)
}

/** `Secure` where the page was loaded over HTTPS, also through a proxy; over plain HTTP a browser would drop such a cookie. */
export function sessionCookie(request: FastifyRequest, session: string, seconds: number): string {
  const isSecure = request.headers.origin?.startsWith('https:') || request.protocol === 'https'
  const attributes = [`Path=${COOKIE_PATH}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict']
  if (isSecure) attributes.push('Secure')
  return [`${cookieName(request)}=${session}`, ...attributes].join('; ')
}
