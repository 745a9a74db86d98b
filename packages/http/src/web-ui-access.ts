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

/** The session, and what the browser keeps while its person is at another server, which then sends it back here. */
const COOKIES = {
  session: { suffix: '', path: COOKIE_PATH, sameSite: 'Strict' },
  pending: { suffix: '-sign-in', path: SIGN_IN_PATH, sameSite: 'Lax' },
  account: { suffix: '-account', path: SIGN_IN_PATH, sameSite: 'Lax' },
} as const

interface Cookie {
  kind: keyof typeof COOKIES
  /** The origin at which browsers reach the server: a proxy need not say that it speaks HTTPS. */
  publicUrl: string | undefined
}

/** Names the port that browsers see, because all servers on a host share its cookies. */
function cookieName({ raw: { socket } }: FastifyRequest, { kind, publicUrl }: Cookie): string {
  const { protocol, port } = new URL(publicUrl ?? `http://localhost:${socket.localPort ?? 0}`)
  const defaultPort = protocol === 'https:' ? '443' : '80'
  return `agent-server-${port || defaultPort}${COOKIES[kind].suffix}`
}

/** The value of a cookie of the web UI; undefined if the browser sends none. */
export function readCookie(request: FastifyRequest, cookie: Cookie): string | undefined {
  const name = cookieName(request, cookie)
  const cookies = (request.headers.cookie ?? '').split(';').map((part) => part.trim())
  const [own, ...others] = cookies.filter((part) => part.startsWith(`${name}=`))
  // If there are two, one was set by somebody else on the host, and nothing says which.
  return others.length > 0 ? undefined : own?.slice(name.length + 1)
}

/** `Secure` if the page was loaded over HTTPS, also through a proxy; over plain HTTP a browser would drop such a cookie. */
export function setCookie(
  request: FastifyRequest,
  cookie: Cookie & { value: string; seconds: number },
): string {
  const { path, sameSite } = COOKIES[cookie.kind]
  const { headers, protocol } = request
  const isSecure =
    cookie.publicUrl?.startsWith('https:') ||
    headers.origin?.startsWith('https:') ||
    protocol === 'https'
  const attributes = [
    `Path=${path}`,
    `Max-Age=${cookie.seconds}`,
    'HttpOnly',
    `SameSite=${sameSite}`,
    ...(isSecure ? ['Secure'] : []),
  ]
  return [`${cookieName(request, cookie)}=${cookie.value}`, ...attributes].join('; ')
}
