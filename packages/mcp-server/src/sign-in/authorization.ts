import { limitByAddress } from '@agent-server/http/limit-by-address.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createKeyCheck } from '@agent-server/lib/key-check.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identify } from '../services.ts'
import { type OAuth, type Parameters, readRequest } from './oauth.ts'
import { consentPage, pageHeaders, refusalPage } from './page.ts'
import { OAuthRefusal } from './registration.ts'

export const MAX_FORM = 16_384
/** Requests per address and minute: each may fetch the document about a client. */
const MAX_AUTHORIZATIONS = 60
export const FORM = 'application/x-www-form-urlencoded'

interface Dependencies {
  oauth: OAuth
  issuerOf: (request: FastifyRequest) => string
  serverApiKey: string
  identify: Identify
}

const DENIED = 'access_denied'

type Client = Awaited<ReturnType<OAuth['findClient']>>

/** The page on which a person allows a program to connect. */
export function addAuthorization(app: FastifyInstance, dependencies: Dependencies): void {
  const { oauth, issuerOf, serverApiKey, identify } = dependencies
  const checkKey = createKeyCheck({
    identify: (key) => (isSameSecret(key, serverApiKey) ? MASTER : identify(key)),
    refusal: 'The key is invalid',
  })

  /** The code, or the error to show to the person. */
  const decide = async (request: FastifyRequest, parameters: Parameters, key: string) => {
    try {
      const caller = await checkKey(key, request.ip)
      const resource = `${issuerOf(request)}/mcp`
      return { code: await oauth.allow(parameters, { resource, caller, address: request.ip }) }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { status: error.status, failure: `${error.message}.` }
    }
  }

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { client, all }: { client: Client; all: Parameters },
  ) => {
    const { key = '', decision, ...parameters } = all
    const { scopes } = readRequest(parameters, `${issuerOf(request)}/mcp`)
    const show = (status: number, failure?: string) =>
      reply
        .status(status)
        .headers(pageHeaders(client.redirect))
        .send(consentPage({ ...client, scopes, parameters, failure }))
    if (request.method === 'GET') return show(200)
    if (decision !== 'allow') throw new OAuthRefusal(DENIED, 'denied by the person')
    const decided = await decide(request, parameters, key.trim())
    if (decided.code === undefined) return show(decided.status, decided.failure)
    return sendBack(reply, all, { code: decided.code, iss: issuerOf(request) })
  }

  const refuse = (reply: FastifyReply, { message }: OAuthRefusal) =>
    reply
      .status(400)
      .headers(pageHeaders())
      .send(refusalPage(`Refused: ${message}.`))

  /**
   * Anybody can register a client. Therefore only the person's own decision leads to its redirect URI, and an error of
   * the request is shown (RFC 9700, 4.11.2).
   */
  const authorize = async (request: FastifyRequest, reply: FastifyReply, body: unknown) => {
    const iss = issuerOf(request)
    const client = await findClient(oauth, body, request.ip)
    if (client instanceof OAuthRefusal) return refuse(reply, client)
    try {
      return await answer(request, reply, client)
    } catch (error) {
      if (!(error instanceof OAuthRefusal)) throw error
      if (error.code !== DENIED) return refuse(reply, error)
      return sendBack(reply, client.all, { error: DENIED, error_description: error.message, iss })
    }
  }

  const onRequest = limitByAddress(MAX_AUTHORIZATIONS)
  app.get('/oauth/authorize', { exposeHeadRoute: false, onRequest }, (request, reply) =>
    authorize(request, reply, new URLSearchParams(request.url.split('?')[1])),
  )
  app.post('/oauth/authorize', { bodyLimit: MAX_FORM, onRequest }, (request, reply) => {
    // The key in the form is what a forged request lacks; this keeps other pages from trying keys.
    if ((request.headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') {
      throw new AppError('origin_not_allowed', 'Only the page of this server can send this form')
    }
    return authorize(request, reply, request.body)
  })
}

async function findClient(oauth: OAuth, body: unknown, address: string) {
  try {
    const all = readForm(body)
    return { all, client: await oauth.findClient(all, address) }
  } catch (error) {
    if (error instanceof OAuthRefusal) return error
    throw error
  }
}

function sendBack(reply: FastifyReply, parameters: Parameters, more: Record<string, string>) {
  const url = new URL(parameters.redirect_uri ?? '')
  const { state } = parameters
  const answer = { ...more, ...(state !== undefined && { state }) }
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  return reply.redirect(url.href, 303)
}

/** RFC 6749, 3.1: no parameter may be there twice. */
export function readForm(body: unknown): Parameters {
  if (!(body instanceof URLSearchParams)) {
    throw new OAuthRefusal('invalid_request', `the body must be ${FORM}`)
  }
  const parameters = Object.fromEntries(body)
  if (Object.keys(parameters).length === body.size) return parameters
  throw new OAuthRefusal('invalid_request', 'a parameter is there twice')
}
