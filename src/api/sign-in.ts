import { limitByAddress } from '@agent-server/http/limit-by-address.ts'
import { publicOrigin } from '@agent-server/http/public-origin.ts'
import { readCookie, SIGN_IN_PATH, setCookie } from '@agent-server/http/web-ui-access.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Audit } from '../operator/audit/audit.ts'
import type { NoteFailure } from '../operator/audit/failed-sign-ins.ts'
import { type CompanyAccounts, PENDING_SECONDS } from '../operator/people/company-accounts.ts'
import { SESSION_SECONDS } from '../operator/people/person-sessions.ts'

export const COMPANY_SIGN_IN_PATH = `${SIGN_IN_PATH}/oidc`
const CALLBACK_PATH = `${SIGN_IN_PATH}/callback`
const LOGOUT_PATH = `${SIGN_IN_PATH}/logout`

export interface SignInOptions {
  /** Absent where people have no accounts. */
  company?: CompanyAccounts | undefined
  /** The origin at which others reach the server. */
  publicUrl?: string | undefined
  /** Absent while the server is not launched. */
  audit?: Pick<Audit, 'record' | 'note'> | undefined
}

interface OwnOptions extends Omit<SignInOptions, 'company'> {
  company: CompanyAccounts
  noteFailure: NoteFailure
}

/** Per address and minute; a whole company may have one. */
export const MAX_REQUESTS = 300
const MAX_FORM = 20_480
const FORM = 'application/x-www-form-urlencoded'

const Begin = z.object({ to: z.string().max(2_000).default('/') })
const LogoutForm = z.object({ logout_token: z.string().max(16_384) })

/** Sign-in with the company's account: the browser goes to the issuer, and comes back with a code. */
export const signInRoutes: FastifyPluginAsyncZod<OwnOptions> = async (app, options) => {
  const { company, publicUrl, audit, noteFailure } = options
  const pendingCookie = { kind: 'pending', publicUrl } as const
  // One each: who uses up one of them keeps nobody from the others.
  const limited = () => ({ onRequest: limitByAddress(MAX_REQUESTS) })
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  })

  app.get(
    COMPANY_SIGN_IN_PATH,
    { ...limited(), schema: { querystring: Begin } },
    (request, reply) =>
      orPage(reply, async () => {
        const redirectUri = `${originOf(request, publicUrl)}${CALLBACK_PATH}`
        const { url, sealed } = await company.begin(redirectUri, ownPath(request.query.to))
        const cookie = { ...pendingCookie, value: sealed, seconds: PENDING_SECONDS }
        return reply.header('set-cookie', setCookie(request, cookie)).redirect(url, 303)
      }),
  )

  // No check of the origin: the issuer's page leads here. What the browser has kept stands for that.
  app.get(CALLBACK_PATH, { ...limited(), exposeHeadRoute: false }, (request, reply) =>
    orPage(reply, async () => {
      reply.header('set-cookie', setCookie(request, { ...pendingCookie, value: '', seconds: 0 }))
      const query = request.url.split('?')[1] ?? ''
      const pending = readCookie(request, pendingCookie) ?? ''
      const { session, to, person } = await company.finish(query, pending).catch((error) => {
        noteFailure(request.ip, error)
        throw error
      })
      await audit?.record({ who: person, address: request.ip, action: 'signIn', targets: {} })
      const cookie = {
        kind: 'session',
        publicUrl,
        value: session,
        seconds: SESSION_SECONDS,
      } as const
      const cookies = [setCookie(request, cookie), dropAccountCookie(request, publicUrl)]
      return reply.header('set-cookie', cookies).redirect(to, 303)
    }),
  )

  app.addContentTypeParser(
    FORM,
    { parseAs: 'string', bodyLimit: MAX_FORM },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
  )
  app.post(LOGOUT_PATH, { ...limited(), schema: { body: LogoutForm } }, async ({ body }, reply) => {
    await company.signedOutElsewhere(body.logout_token)
    return reply.status(200).send()
  })

  // A browser that is redirected here has no key to check.
  app.all(`${SIGN_IN_PATH}/*`, { exposeHeadRoute: false }, async () => {
    throw new AppError('route_not_found', 'There is no such page of the sign-in')
  })
}

/** What one person has begun in this browser, the next one does not finish. */
export function dropAccountCookie(request: FastifyRequest, publicUrl: string | undefined): string {
  return setCookie(request, { kind: 'account', publicUrl, value: '', seconds: 0 })
}

/** Throws `route_not_found` where the address of the server is only what the caller says. */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  const origin = publicOrigin(request, publicUrl)
  if (origin !== undefined) return origin
  const message = 'PUBLIC_URL has to be set, so that the issuer can send people back to this server'
  throw new AppError('route_not_found', message)
}

/** A path on this server, whatever was asked for. */
function ownPath(to: string): string {
  const base = 'http://own.invalid'
  const url = URL.parse(to, base)
  // What a browser would take for another host, as `//host` and `/\host`, is resolved here as well.
  if (!url || url.origin !== base || !to.startsWith('/')) return '/'
  const path = `${url.pathname}${url.search}${url.hash}`
  return path.startsWith('//') ? '/' : path
}

/** A person reads the failure: there is no page yet that would show it. */
export async function orPage(
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
  page: FailurePage = SIGN_IN_PAGE,
): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    reply.log.warn({ err: error }, page.title)
    return reply.status(error.status).headers(PAGE_HEADERS).send(failurePage(page, error.message))
  }
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '')

/** What it says, and where it leads. */
interface FailurePage {
  title: string
  path: string
  link: string
}

const SIGN_IN_PAGE = { title: 'Sign-in failed', path: '/', link: 'Back to the sign-in page' }

const failurePage = ({ title, path, link }: FailurePage, message: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<h1>${title}</h1>
<p>${escaped(message)}</p>
<p><a href="${path}">${link}</a></p>
</html>
`
