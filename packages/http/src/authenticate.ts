import { AppError } from '@agent-server/lib/errors.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import {
  type Caller,
  checkScope,
  MASTER,
  type Person,
  type Scope,
} from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { actingFor } from './acting-person.ts'
import { isFromWebUi } from './web-ui-access.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a key. Every route that does not set this needs one. */
    public?: boolean
    /** The key must have one of these scopes. Every route that is not public must name some. */
    scopes?: readonly Scope[]
    /** Each of its requests may be of another kind: it puts those that change something into the audit log itself. */
    recordsChanges?: boolean
    /** A header in which the route's protocol sends the key, besides `Authorization`. */
    keyHeader?: string
    /** Whether the URL stands in for a key; throws if it should but is not valid. */
    isLinked?: (request: FastifyRequest) => boolean
  }
  interface FastifyRequest {
    /**
     * The sender of the request. Absent on public routes, except for the master key or the web UI, and if a link
     * replaces a key.
     */
    caller: Caller
  }
}

/** Who has signed in to the web UI. Throws `unauthorized` if nobody has. */
export type CheckSession = (request: FastifyRequest) => Promise<Caller>

/** Looks up the caller of a key other than the master key; undefined if there is no such key. */
export type Identify = (token: string) => Promise<Caller | undefined>

interface AuthenticationOptions {
  /** Without it, the master key alone lets in. */
  identify?: Identify | undefined
  /** Without it, nobody can be signed in to the web UI. */
  checkSession?: CheckSession | undefined
  /** Notes for whom a program speaks. */
  seePerson?: ((person: Person) => Promise<void>) | undefined
}

/**
 * Requires `Authorization: Bearer <key>`, or the route's `keyHeader`, with one of the route's scopes, on every route that is not public, unknown
 * ones included. Only `checkSession` decides about requests to the web UI's own path: keys do not count there, as
 * cookies do not count elsewhere.
 */
export function installAuthentication(
  app: FastifyInstance,
  masterKey: string,
  options: AuthenticationOptions = {},
): void {
  app.decorateRequest('caller')
  refuseUnscoped(app)
  app.addHook('onRequest', async (request) => {
    const { public: isPublic, isLinked } = request.routeOptions.config
    if (isLinked?.(request)) return
    const { identify, checkSession, seePerson } = options
    const caller = await callerOf(request, masterKey, checkSession, isPublic ? undefined : identify)
    if (caller) request.caller = caller
    // Nobody is spoken for where no key is needed.
    if (!isPublic) await letIn(request, caller, seePerson)
  })
}

/** Only who passes the check is noted. */
async function letIn(
  request: FastifyRequest,
  caller: Caller | undefined,
  seePerson: AuthenticationOptions['seePerson'],
): Promise<void> {
  if (caller) request.caller = actingFor(caller, request.headers)
  checkRequest(request)
  const { person } = request.caller
  if (person && !caller?.person) await seePerson?.(person)
}

/** Throws `unauthorized`, or `insufficient_scope`. */
function checkRequest(request: FastifyRequest): void {
  const { caller }: { caller?: Caller } = request
  if (!caller) throw wrongKey(presentedKey(request) !== undefined)
  const { scopes = ['admin'] } = request.routeOptions.config
  // An unknown path is a 404 for every key.
  if (!request.is404) checkScope(caller, ...scopes)
}

/** Keeps the server from starting with a route that any key could use. */
function refuseUnscoped(app: FastifyInstance): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  // Checked at the end: a plugin's `onRoute` hook may add scopes after this one has seen the route.
  app.addHook('onReady', async () => {
    for (const { method, url, config } of routes) {
      if (config?.public || config?.scopes?.length) continue
      throw new TypeError(`The route ${method} ${url} names no scope, and is not public`)
    }
  })
}

async function callerOf(
  request: FastifyRequest,
  masterKey: string,
  checkSession?: CheckSession,
  identify?: Identify,
): Promise<Caller | undefined> {
  if (checkSession && isFromWebUi(request)) return checkSession(request)
  const presented = presentedKey(request)
  if (presented === undefined) return undefined
  return isSameSecret(presented, masterKey) ? MASTER : identify?.(presented)
}

function wrongKey(isPresent: boolean): AppError {
  const message = isPresent
    ? 'The key is invalid. Use the SERVER_API_KEY, or a key that has not been revoked and has not expired.'
    : 'The key is missing. Send the header `Authorization: Bearer <SERVER_API_KEY>`.'
  return new AppError('unauthorized', message)
}

/** A key in `Authorization` counts alone, whatever another header holds. */
function presentedKey({ headers, routeOptions }: FastifyRequest): string | undefined {
  const { keyHeader } = routeOptions.config
  if (headers.authorization === undefined && keyHeader) {
    const key = headers[keyHeader]
    return typeof key === 'string' && key !== '' ? key : undefined
  }
  const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  return token
}
