import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { AppError } from '../errors.ts'
import { isSameSecret } from '../lib/same-secret.ts'
import { type Caller, checkScope, MASTER, type Scope } from '../schemas/operator/api-key.ts'
import { isFromScreen } from './screen-access.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a key. Every route that does not say so needs one. */
    public?: boolean
    /** What a key must let its holder do: one of these. Every route has it that is not public. */
    scopes?: readonly Scope[]
    /** Whether the address stands in for a key; throws where it should and does not. */
    isLinked?: (request: FastifyRequest) => boolean
  }
  interface FastifyRequest {
    /** Who asks. Absent on public routes, unless the master key or the screen asks, and where a link stands in place of a key. */
    caller: Caller
  }
}

/** The caller that a key other than the master key belongs to; nothing where there is no such key. */
export type Identify = (token: string) => Promise<Caller | undefined>

/**
 * Asks for `Authorization: Bearer <key>` on every route, unknown ones included, that is not public, and for one of the
 * route's scopes. What comes through the screen's own path is for `checkSession` alone to let in: no key counts there,
 * as no cookie counts here.
 */
export function installAuthentication(
  app: FastifyInstance,
  masterKey: string,
  checkSession?: (request: FastifyRequest) => void,
  identify: Identify = async () => undefined,
): void {
  app.decorateRequest('caller')
  refuseUnscoped(app)
  app.addHook('onRequest', async (request) => {
    const { public: isPublic, isLinked } = request.routeOptions.config
    if (isLinked?.(request)) return
    const caller = await callerOf(request, masterKey, checkSession, isPublic ? undefined : identify)
    if (caller) request.caller = caller
    if (!isPublic) checkRequest(request, caller)
  })
}

/** Throws `unauthorized`, or `insufficient_scope`. */
function checkRequest(request: FastifyRequest, caller: Caller | undefined): void {
  if (!caller) throw wrongKey(bearerToken(request) !== undefined)
  const { scopes = ['admin'] } = request.routeOptions.config
  // An unknown path is 404 to every key.
  if (!request.is404) checkScope(caller, ...scopes)
}

/** The server does not start with a route that any key might use. */
function refuseUnscoped(app: FastifyInstance): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  // What a plugin says of all its routes, it says after this has heard of them.
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
  checkSession?: (request: FastifyRequest) => void,
  identify?: Identify,
): Promise<Caller | undefined> {
  if (checkSession && isFromScreen(request)) {
    checkSession(request)
    return MASTER
  }
  const presented = bearerToken(request)
  if (presented === undefined) return undefined
  return isSameSecret(presented, masterKey) ? MASTER : identify?.(presented)
}

function wrongKey(isPresent: boolean): AppError {
  const message = isPresent
    ? 'The key is wrong: it must be the SERVER_API_KEY, or a key that was neither revoked nor has expired'
    : 'No key: send the header `Authorization: Bearer <SERVER_API_KEY>`'
  return new AppError('unauthorized', message)
}

function bearerToken({ headers }: FastifyRequest): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  return token
}
