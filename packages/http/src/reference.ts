import { AppError } from '@agent-server/lib/errors.ts'
import type { Scope } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { ApiInfo } from './openapi.ts'

const PAGES = ['', '/json', '/yaml', '/static/:file', '/static/theme/:file'].map(
  (path) => `/reference${path}`,
)

/**
 * Serves `/openapi.json` and the interactive `/reference`, both public. What generates them is loaded on the first
 * request: a separate server that knows the routes and answers in place of this one.
 */
export function installReference(app: FastifyInstance, info: ApiInfo): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  let opened: Promise<FastifyInstance> | undefined
  const open = async () => {
    try {
      return await (await import('./openapi.ts')).openReference(routes, info)
    } catch (error) {
      // The next request tries again.
      opened = undefined
      throw error
    }
  }

  for (const url of ['/openapi.json', ...PAGES]) {
    app.route({
      url,
      method: 'GET',
      schema: { hide: true },
      config: { public: true },
      logLevel: 'warn',
      async handler({ method, url, headers }, reply) {
        opened ??= open()
        const same = { method: method === 'HEAD' ? 'HEAD' : 'GET', url, headers } as const
        const { statusCode, ...answer } = await (await opened).inject(same)
        if (statusCode === 404) {
          throw new AppError('route_not_found', `No route ${method} ${url}`)
        }
        return reply.code(statusCode).headers(answer.headers).send(answer.rawPayload)
      },
    })
  }
}

/** Sets the tag under which the contract lists a plugin's routes, and the scopes of those that name none. */
export function groupRoutes(app: FastifyInstance, tag: string, scopes?: readonly Scope[]): void {
  app.addHook('onRoute', (route) => {
    route.schema = { tags: [tag], ...route.schema }
    if (scopes) route.config = { scopes, ...route.config }
  })
}
