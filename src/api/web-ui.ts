import {
  checkSameOrigin,
  PAGE_PATH,
  sessionCookie,
  sessionOf,
} from '@agent-server/http/web-ui-access.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ASSET_PATH, type Asset, type Bundle } from '../operator/web-ui/bundle.ts'
import { SESSION_SECONDS, type Sessions } from '../operator/web-ui/sessions.ts'

export interface WebUi {
  sessions: Sessions
  bundle: () => Promise<Bundle>
}

/**
 * Allows nothing inline, nothing from other origins, no framing, and no HTML from strings except what DOMPurify has
 * cleaned. Without `upgrade-insecure-requests`, which leaves the page blank over plain HTTP.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
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

const MAX_SIGN_IN_BYTES = 4_096

// Schemas for routes that only the web UI uses: they are not in the contract.
const Secret = z.string().min(1).max(1_000)
const SignIn = z.union([z.strictObject({ key: Secret }), z.strictObject({ token: Secret })], {
  error: 'must contain either `key` or `token`',
})
export const SessionState = z.object({ signedIn: z.boolean(), version: z.string() })
const RevealedKey = z.object({ key: z.string() })
const AssetParams = z.object({ name: z.string().max(100) })

interface WebUiOptions {
  webUi: WebUi
  version: string
}

/** Lets in requests from the web UI with an open session. Throws `origin_not_allowed` and `unauthorized`. */
export function sessionCheck({ sessions }: WebUi): (request: FastifyRequest) => void {
  return (request) => {
    checkSameOrigin(request)
    if (isSignedIn(sessions, request)) return
    throw new AppError('unauthorized', 'The session has ended. Sign in again with the server key.')
  }
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

  app.register(sessionRoutes, options)
}

const sessionRoutes: FastifyPluginAsyncZod<WebUiOptions> = async (app, { webUi, version }) => {
  const { sessions } = webUi
  const checkSession = sessionCheck(webUi)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    checkSameOrigin(request)
  })

  app.get('/ui/session', {
    schema: { response: { 200: SessionState } },
    handler: (request) => ({ signedIn: isSignedIn(sessions, request), version }),
  })

  app.post('/ui/session', {
    bodyLimit: MAX_SIGN_IN_BYTES,
    schema: { body: SignIn, response: { 204: z.undefined() } },
    handler: async (request, reply) => {
      const session = await sessions.signIn(request.body, request.ip)
      return reply
        .header('set-cookie', sessionCookie(request, session, SESSION_SECONDS))
        .status(204)
        .send()
    },
  })

  app.delete('/ui/session', {
    schema: { response: { 204: z.undefined() } },
    handler: async (request, reply) => {
      await sessions.signOut(sessionOf(request) ?? '')
      return reply
        .header('set-cookie', sessionCookie(request, '', 0))
        .status(204)
        .send()
    },
  })

  // POST, so that the stricter rules for writes apply to it.
  app.post('/ui/key', {
    schema: { response: { 200: RevealedKey } },
    onRequest: async (request) => checkSession(request),
    handler: () => ({ key: sessions.revealKey() }),
  })
}

function isSignedIn(sessions: Sessions, request: FastifyRequest): boolean {
  const session = sessionOf(request)
  return session !== undefined && sessions.isOpen(session)
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
