import { AppError } from '@agent-server/lib/errors.ts'
import type { FastifyInstance } from 'fastify'

const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "base-uri 'self'",
  "font-src 'self' https: data:",
  "form-action 'self'",
  "frame-ancestors 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "script-src 'self'",
  "script-src-attr 'none'",
  "style-src 'self' https: 'unsafe-inline'",
  'upgrade-insecure-requests',
].join(';')

/**
 * The defaults of helmet 8, which rebuilds them for every reply: it took 8 % of a `/query`. Without
 * `strict-transport-security`, which is up to whatever terminates TLS in front of the server.
 */
const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
}

const isHost = (name: string) => name.length === 4 && name.toLowerCase() === 'host'

/** Sets headers that keep a browser from misusing a reply, and refuses an ambiguous or invalid `Host`. */
export function installSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }, reply) => {
    reply.headers(HEADERS)
    // RFC 9112, 3.2: of several hosts, or an unreadable one, each proxy on the way may pick another.
    const isUnclear = raw.rawHeaders.filter((name, at) => at % 2 === 0 && isHost(name)).length > 1
    if (isUnclear || (raw.headers.host && !URL.canParse(`http://${raw.headers.host}`))) {
      throw new AppError('invalid_request', 'There must be exactly one valid Host header')
    }
  })
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses pages of origins not listed in `allowed`, except those of this machine. Browsers send a page's
 * origin; without this check, a host name that an attacker points at this server would let their page call it.
 * Throws `origin_not_allowed`.
 */
export function checkOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return
  if (THIS_MACHINE.includes(URL.parse(origin)?.hostname ?? '')) return
  throw new AppError('origin_not_allowed', 'This origin is not allowed. Add it to CORS_ORIGIN.')
}
