import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a key. Every route that does not say so needs one. */
    public?: boolean
  }
}

/** Asks for `Authorization: Bearer <key>` on every route, unknown ones included, that is not public. */
export function installAuthentication(app: FastifyInstance, key: string): void {
  const expected = digest(key)

  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.public) return
    const presented = bearerToken(request.headers.authorization)
    if (presented === undefined) {
      throw app.httpErrors.unauthorized(
        'No key: send the header `Authorization: Bearer <SERVER_API_KEY>`',
      )
    }
    // Digests have one length, so the comparison tells nothing about the key, not even its length.
    if (!timingSafeEqual(digest(presented), expected)) {
      throw app.httpErrors.unauthorized('The key is wrong: it must be the SERVER_API_KEY')
    }
  })
}

function bearerToken(header: string | undefined): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? []
  return token
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
