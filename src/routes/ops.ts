import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { groupRoutes } from '../http/reference.ts'
import { errorResponses } from '../schemas/error.ts'
import { MASTER } from '../schemas/operator/api-key.ts'
import { Health, Readiness } from '../schemas/operator/ops.ts'
import type { Metrics } from '../services/ops/metrics.ts'

interface Services {
  readiness: (isTrusted: boolean) => Promise<Readiness>
  /** Absent if nothing runs that could be measured. */
  metrics?: Pick<Metrics, 'render' | 'contentType'>
}

// Polled every few seconds by monitoring, so logged only when something is wrong.
const quiet = { logLevel: 'warn' } as const

export const opsRoutes: FastifyPluginAsyncZod<Services> = async (app, { readiness, metrics }) => {
  groupRoutes(app, 'ops')
  app.get('/health', {
    ...quiet,
    config: { public: true },
    schema: {
      operationId: 'health',
      summary: 'Whether the process answers',
      response: { 200: Health.describe('It does.') },
    },
    handler: () => ({ status: 'ok' as const }),
  })

  app.get('/readiness', {
    ...quiet,
    config: { public: true },
    schema: {
      operationId: 'readiness',
      summary: 'Whether every part of the server works',
      description:
        'Without the SERVER_API_KEY it may be a second old, and names no number of documents.',
      response: {
        200: Readiness.describe('Every part works.'),
        503: Readiness.describe('A part does not; `checks` names it.'),
      },
    },
    handler: async ({ caller }, reply) => {
      const result = await readiness(caller === MASTER)
      return reply.status(result.status === 'ready' ? 200 : 503).send(result)
    },
  })

  if (!metrics) return
  app.get('/metrics', {
    config: { scopes: ['admin'] },
    ...quiet,
    schema: {
      operationId: 'metrics',
      summary: 'Metrics for Prometheus',
      response: {
        200: {
          description: 'The metrics in the text exposition format.',
          content: { 'text/plain': { schema: z.string() } },
        },
        ...errorResponses(),
      },
    },
    handler: async (_request, reply) =>
      reply.header('content-type', metrics.contentType).send(await metrics.render()),
  })
}
