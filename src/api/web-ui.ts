import type { CheckSession } from '@agent-server/http/authenticate.ts'
import { publicOrigin } from '@agent-server/http/public-origin.ts'
import {
  checkSameOrigin,
  PAGE_PATH,
  readCookie,
  setCookie,
} from '@agent-server/http/web-ui-access.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { type Caller, MASTER, SCOPES } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { createFailureNotes, type NoteFailure } from '../operator/audit/failed-sign-ins.ts'
import { ASSET_PATH, type Asset, type Bundle } from '../operator/web-ui/bundle.ts'
import { PREVIEW_KINDS } from '../operator/web-ui/previews.ts'
import { SESSION_SECONDS, type Sessions } from '../operator/web-ui/sessions.ts'
import {
  COMPANY_SIGN_IN_PATH,
  dropAccountCookie,
  type SignInOptions,
  signInRoutes,
} from './sign-in.ts'

export interface WebUi {
  /** Sessions of whoever has the server's key. */
  sessions: Sessions
  bundle: () => Promise<Bundle>
}

/**
 * Allows nothing inline, nothing from other origins, in frames neither, no framing, and no HTML from strings except what
 * DOMPurify has cleaned. Without `upgrade-insecure-requests`, which leaves the page blank over plain HTTP.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify pdf-worker',
].join(';')

const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-frame-options': 'DENY',
  // Revalidated each time, because a new version has other files.
  'cache-control': 'no-cache',
}
const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  // A worker has the policy that its own script came with. The one that reads PDFs decodes images in WebAssembly, and
  // can load nothing: whoever took it over with a PDF could not use the session.
  'content-security-policy': "default-src 'none'; script-src 'wasm-unsafe-eval'",
}

/** The pages of frames, which have a policy of their own. */
const PREVIEW_PATH = '/ui/preview'
const PreviewParams = z.object({ kind: z.enum(PREVIEW_KINDS) })

const MAX_SIGN_IN_BYTES = 4_096

// Schemas for routes that only the web UI uses: they are not in the contract.
const Secret = z.string().min(1).max(1_000)
const SignIn = z.union([z.strictObject({ key: Secret }), z.strictObject({ token: Secret })], {
  error: 'must contain either `key` or `token`',
})
export const SessionState = z.object({
  signedIn: z.boolean(),
  version: z.string(),
  /** What they may do; nothing while they are not signed in. */
  scopes: z.array(z.enum(SCOPES)),
  /** Absent for who has signed in with the server's key. */
  person: z
    .object({ id: z.string(), name: z.string().optional(), isAdministrator: z.boolean() })
    .optional(),
  /** Where people sign in with their company's account, if they can. */
  signInPath: z.string().optional(),
})
const SignedOut = z.object({ signOutUrl: z.string().describe('Of the issuer.') })
const RevealedKey = z.object({ key: z.string() })
const AssetParams = z.object({ name: z.string().max(100) })

interface SessionAccess extends Omit<SignInOptions, 'audit'> {
  webUi: WebUi
}

interface WebUiOptions extends SignInOptions {
  webUi: WebUi
  version: string
}

/** Lets in requests from the web UI with an open session. Throws `origin_not_allowed` and `unauthorized`. */
export function sessionCheck(access: SessionAccess): CheckSession {
  return async (request) => {
    checkSameOrigin(request)
    const caller = await signedInAs(request, access)
    if (caller) return caller
    throw new AppError('unauthorized', 'The session has ended. Sign in again.')
  }
}

async function signedInAs(
  request: FastifyRequest,
  { webUi: { sessions }, company, publicUrl }: SessionAccess,
): Promise<Caller | undefined> {
  const session = readCookie(request, { kind: 'session', publicUrl })
  if (session === undefined) return undefined
  return sessions.isOpen(session) ? MASTER : company?.sessions.callerOf(session)
}

/** Serves the page, its files and its session; the page reads its data from the API, below `/ui/api`. */
export const webUiRoutes: FastifyPluginAsyncZod<WebUiOptions> = async (app, options) => {
  const { webUi } = options
  app.addHook('onRoute', (route) => {
    // They need no key and only the web UI uses them, so they are not in the contract.
    route.config = { public: true, ...route.config }
    route.schema = { hide: true, ...route.schema }
  })
  app.get(PAGE_PATH, async (request, reply) => {
    reply.headers(PAGE_HEADERS)
    try {
      const { page } = await madeBundle(webUi, request)
      return sendAsset(request, reply, page)
    } catch (error) {
      // Plain text for a person, who has no use for the error envelope.
      return reply.status(500).type('text/plain; charset=utf-8').send(String(error))
    }
  })

  app.get(`${ASSET_PATH}/:name`, { schema: { params: AssetParams } }, async (request, reply) => {
    const bundle = await madeBundle(webUi, request)
    const asset = await bundle.asset(request.params.name)
    if (!asset) throw new AppError('route_not_found', 'The web UI has no file with this name')
    return sendAsset(request, reply.headers(ASSET_HEADERS), asset)
  })

  app.get(
    `${PREVIEW_PATH}/:kind`,
    { schema: { params: PreviewParams } },
    async (request, reply) => {
      const bundle = await madeBundle(webUi, request)
      const { policy, ...asset } = await bundle.preview(request.params.kind)
      const { 'cache-control': caching } = PAGE_HEADERS
      reply.headers({ 'content-security-policy': policy, 'cache-control': caching })
      // It has an origin of its own anyway, and browsers warn of the two that its address then has.
      reply.removeHeader('origin-agent-cluster')
      return sendAsset(request, reply, asset)
    },
  )

  // One for both: an address has its share once.
  const noteFailure = createFailureNotes(options.audit)
  app.register(sessionRoutes, { ...options, noteFailure })
  const { company, ...rest } = options
  if (company) app.register(signInRoutes, { ...rest, company, noteFailure })
}

const sessionRoutes: FastifyPluginAsyncZod<WebUiOptions & { noteFailure: NoteFailure }> = async (
  app,
  options,
) => {
  const { webUi, version, company, publicUrl, audit, noteFailure } = options
  const { sessions } = webUi
  const checkSession = sessionCheck(options)
  const sessionCookie = { kind: 'session', publicUrl } as const
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    checkSameOrigin(request)
  })

  app.get('/ui/session', {
    schema: { response: { 200: SessionState } },
    handler: async (request) => {
      const caller = await signedInAs(request, options)
      return { version, ...stateOf(caller), signInPath: company && COMPANY_SIGN_IN_PATH }
    },
  })

  app.post('/ui/session', {
    bodyLimit: MAX_SIGN_IN_BYTES,
    schema: { body: SignIn, response: { 204: z.undefined() } },
    handler: async (request, reply) => {
      const session = await sessions.signIn(request.body, request.ip).catch((error) => {
        noteFailure(request.ip, error)
        throw error
      })
      await audit?.record({ who: 'master', address: request.ip, action: 'signIn', targets: {} })
      return reply
        .header('set-cookie', [
          setCookie(request, { ...sessionCookie, value: session, seconds: SESSION_SECONDS }),
          dropAccountCookie(request, publicUrl),
        ])
        .status(204)
        .send()
    },
  })

  app.delete('/ui/session', {
    schema: { response: { 200: SignedOut, 204: z.undefined() } },
    handler: async (request, reply) => {
      const session = readCookie(request, sessionCookie) ?? ''
      const hasKey = sessions.isOpen(session)
      reply.header('set-cookie', [
        setCookie(request, { ...sessionCookie, value: '', seconds: 0 }),
        dropAccountCookie(request, publicUrl),
      ])
      await sessions.signOut(session)
      const ended = await company?.signOut(session, publicOrigin(request, publicUrl))
      const who = hasKey ? 'master' : ended?.person
      if (who) await audit?.record({ who, address: request.ip, action: 'signOut', targets: {} })
      const signOutUrl = ended?.url
      return signOutUrl === undefined ? reply.status(204).send() : { signOutUrl }
    },
  })

  // POST, so that the stricter rules for writes apply to it.
  app.post('/ui/key', {
    schema: { response: { 200: RevealedKey } },
    onRequest: async (request) => {
      if ((await checkSession(request)) === MASTER) return
      throw new AppError(
        'insufficient_scope',
        'Only who has signed in with it can see the server key',
      )
    },
    handler: () => ({ key: sessions.revealKey() }),
  })
}

function stateOf(caller: Caller | undefined): Omit<z.input<typeof SessionState>, 'version'> {
  const { person, scopes = [] } = caller ?? {}
  const { id = '', name, isAdministrator = false } = person ?? {}
  return {
    signedIn: caller !== undefined,
    scopes: [...scopes],
    ...(person && { person: { id, name, isAdministrator } }),
  }
}

async function madeBundle({ bundle }: WebUi, { log }: FastifyRequest): Promise<Bundle> {
  try {
    return await bundle()
  } catch (error) {
    log.error({ err: error }, 'bundling the web UI failed')
    const reason = error instanceof Error ? error.message : String(error)
    const message = `The web UI is unavailable because its files could not be bundled: ${reason.slice(0, 2_000)}. The API is not affected.`
    throw new AppError('web_ui_unavailable', message, { cause: error })
  }
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  reply.headers({ vary: 'accept-encoding', etag: asset.etag })
  if (request.headers['if-none-match'] === asset.etag) return reply.status(304).send()
  const accepted = request.headers['accept-encoding'] ?? ''
  const encoding = (['br', 'gzip'] as const).find((one) =>
    new RegExp(`\\b${one}\\b`).test(accepted),
  )
  if (encoding) reply.header('content-encoding', encoding)
  return reply.type(asset.mediaType).send(asset.bodies[encoding ?? 'identity'])
}
