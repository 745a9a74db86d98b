import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isSameSecret } from '../lib/same-secret.ts'
import { isFromScreen } from './screen-access.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a key. Every route that does not say so needs one. */
    public?: boolean
  }
  interface FastifyRequest {
    /** Whether it came with the key, or from the screen of who signed in with it; public routes serve others, too. */
    isTrusted: boolean
  }
}

/**
 * Asks for `Authorization: Bearer <key>` on every route, unknown ones included, that is not public. What comes
 * through the screen's own path is for `checkSession` alone to let in: no key counts there, as no cookie counts here.
 */
export function installAuthentication(
  app: FastifyInstance,
  key: string,
  checkSession?: (request: FastifyRequest) => void,
): void {
  app.decorateRequest('isTrusted', false)
  app.addHook('onRequest', async (request) => {
    if (checkSession && isFromScreen(request)) {
      checkSession(request)
      request.isTrusted = true
      return
    }
    const presented = bearerToken(request.headers.authorization)
    request.isTrusted = presented !== undefined && isSameSecret(presented, key)
    if (request.routeOptions.config.public || request.isTrusted) return
    if (presented === undefined) {
      throw app.httpErrors.unauthorized(
        'No key: send the header `Authorization: Bearer <SERVER_API_KEY>`',
      )
    }
    throw app.httpErrors.unauthorized('The key is wrong: it must be the SERVER_API_KEY')
  })
}

function bearerToken(header: string | undefined): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? []
  return token
}
