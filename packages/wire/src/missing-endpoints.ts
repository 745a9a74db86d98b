import { AppError } from '@agent-server/lib/errors.ts'
import { SCOPES } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyContextConfig, FastifyInstance } from 'fastify'

/** Refuses endpoints of a protocol that this server does not have, and all below them, with what to use instead. */
export function refuseMissing(
  app: FastifyInstance,
  instead: Record<string, string>,
  config: Omit<FastifyContextConfig, 'scopes'> = {},
): void {
  for (const [endpoint, advice] of Object.entries(instead)) {
    // Before the body is read, whatever its type.
    const preParsing = async ({ url }: { url: string }) => {
      const [path] = url.split('?')
      throw new AppError('route_not_found', `${path} is not supported. ${advice}`)
    }
    const options = { config: { ...config, scopes: SCOPES }, schema: { hide: true }, preParsing }
    for (const path of [endpoint, `${endpoint}/*`]) app.all(path, options, () => undefined)
  }
}
