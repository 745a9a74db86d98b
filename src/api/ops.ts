import { groupRoutes } from '@agent-server/http/reference.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { Health, Readiness } from '@agent-server/schemas/operator/ops.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Metrics } from '../operator/ops/metrics.ts'

interface Services {
  readiness: (isTrusted: boolean) => Promise<Readiness>
  /** Absent if nothing runs that could be measured. */
  metrics?: Pick<Metrics, 'render' | 'contentType'>
}

// Polled every few seconds by monitoring, so logged only when something is wrong.
const quiet = { logLevel: 'warn' } as const

// Absent, as the route needs no key.
const isAdministrator = (caller: Caller | undefined) => caller?.scopes.includes('admin') ?? false

export const opsRoutes: FastifyPluginAsyncZod<Services> = async (app, { readiness, metrics }) => {
  groupRoutes(app, 'ops')
  app.get('/health', {
    ...quiet,
    config: { public: true },
    schema: {
      operationId: 'health',
      summary: 'Check that the process is running',
      description:
        'Answers as long as the process runs, whatever the state of its parts; `GET /readiness` checks those.',
      response: { 200: Health.describe('The process is running.'), ...errorResponses() },
    },
    handler: () => ({ status: 'ok' as const }),
  })

  app.get('/readiness', {
    ...quiet,
    config: { public: true },
    schema: {
      operationId: 'readiness',
      summary: 'Check that all parts of the server work',
      description:
        'Without the SERVER_API_KEY, the result may be up to a second old and contains no document counts.',
      response: {
        200: Readiness.describe('All parts work.'),
        ...errorResponses(),
        503: Readiness.describe('A part does not work; see `checks`.'),
      },
    },
    handler: async ({ caller, headers }, reply) => {
      const isForPerson = headers['agent-user'] !== undefined
      const result = await readiness(isAdministrator(caller) && !isForPerson)
      return reply.status(result.status === 'ready' ? 200 : 503).send(result)
    },
  })

  if (!metrics) return
  app.get('/metrics', {
    config: { scopes: ['admin'] },
    ...quiet,
    schema: {
      operationId: 'metrics',
      summary: 'Get Prometheus metrics',
      description: 'Returns counters and timings in the text format of Prometheus.',
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
