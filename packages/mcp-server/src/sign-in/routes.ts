import { limitByAddress } from '@agent-server/http/limit-by-address.ts'
import { publicOrigin } from '@agent-server/http/public-origin.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { Identify, KeyStore, RecordChange } from '../services.ts'
import { addAuthorization, FORM, MAX_FORM, readForm } from './authorization.ts'
import { createClientDocuments } from './client-documents.ts'
import { createGrants } from './grants.ts'
import { createOAuth, SCOPES } from './oauth.ts'
import { OAuthRefusal, Registration } from './registration.ts'

/** Requests per address and minute. Hosted assistants send those of many people from few addresses. */
const MAX_REGISTRATIONS = 60
const MAX_TOKEN_REQUESTS = 600

interface Services {
  serverApiKey: string
  publicUrl?: string | undefined
  keys: { identify: Identify }
  keyStore: KeyStore
  /** Private hosts at which documents about clients may be read. */
  outboundAllow?: readonly string[] | undefined
  recordChange: RecordChange
  log: Pick<Log, 'info'>
}

/** OAuth 2.1 for `/mcp`; its RFCs describe the routes, so they are not in the contract. */
export const signInRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  const { serverApiKey, publicUrl, keyStore: store, recordChange, log } = services
  const identify: Identify = (key) => services.keys.identify(key)
  const clientDocuments = createClientDocuments(services.outboundAllow ?? [])
  app.addHook('onClose', clientDocuments.close)
  const oauth = createOAuth(
    createGrants({ store, recordChange, log }),
    clientDocuments,
    serverApiKey,
  )
  const issuerOf = (request: FastifyRequest) => {
    const origin = publicOrigin(request, publicUrl)
    if (origin !== undefined) return origin
    const message = 'Sign-in needs PUBLIC_URL, except on the machine of the server'
    throw new AppError('route_not_found', message)
  }
  const resourceOf = (request: FastifyRequest) => `${issuerOf(request)}/mcp`

  app.addHook('onRoute', (route) => {
    route.config = { public: true, ...route.config }
    route.schema = { hide: true, ...route.schema }
  })
  app.addHook(
    'onRequest',
    async (_request, reply) => void reply.header('cache-control', 'no-store'),
  )
  app.addContentTypeParser(
    FORM,
    { parseAs: 'string', bodyLimit: MAX_FORM },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  )
  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof OAuthRefusal)) throw error
    reply.status(400).send({ error: error.code, error_description: error.message })
  })

  addMetadata(app, issuerOf)

  app.post('/oauth/register', bounded(MAX_REGISTRATIONS), async (request, reply) => {
    issuerOf(request)
    const { data, error } = Registration.safeParse(request.body)
    if (data) return reply.status(201).send(await oauth.register(data))
    const [issue] = error.issues
    const name = String(issue?.path[0] ?? 'body')
    const code = name === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata'
    throw new OAuthRefusal(code, `${name}: ${issue?.message}`)
  })

  app.post('/oauth/token', bounded(MAX_TOKEN_REQUESTS), async (request) => {
    const place = { resource: resourceOf(request), address: request.ip }
    return oauth.token(readForm(request.body), place)
  })

  app.post('/oauth/revoke', { bodyLimit: MAX_FORM }, async (request) => {
    await oauth.revoke(readForm(request.body).token ?? '', request.ip, identify)
    return {}
  })

  addAuthorization(app, { oauth, issuerOf, serverApiKey, identify })
}

const bounded = (maximum: number) => ({ bodyLimit: MAX_FORM, onRequest: limitByAddress(maximum) })

type IssuerOf = (request: FastifyRequest) => string

/** RFC 9728 and RFC 8414. */
function addMetadata(app: FastifyInstance, issuerOf: IssuerOf): void {
  for (const path of ['', '/mcp']) {
    app.get(`/.well-known/oauth-protected-resource${path}`, async (request) => ({
      resource: `${issuerOf(request)}/mcp`,
      authorization_servers: [issuerOf(request)],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
    }))
  }
  app.get('/.well-known/oauth-authorization-server', async (request) => {
    const issuer = issuerOf(request)
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      registration_endpoint: `${issuer}/oauth/register`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    }
  })
}
