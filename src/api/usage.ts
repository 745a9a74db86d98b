import { errorResponses } from '@agent-server/schemas/error.ts'
import { shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { OwnUsage, UsageQuery, UsageReport } from '@agent-server/schemas/operator/usage.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { UsageReports } from '../operator/usage/report.ts'

interface Services {
  usage: UsageReports
}

/** What each has used themselves. */
export const ownUsageRoutes: FastifyPluginAsyncZod<Services> = async (app, { usage }) => {
  app.get('/usage', {
    config: { scopes: ['query', 'chat'] },
    schema: {
      tags: ['chat'],
      operationId: 'getOwnUsage',
      summary: 'Get what you have used, and what is left',
      description:
        'Of the person, or of the key if nobody has signed in: the tokens and costs of models in the last 30 days, and what is left for today of each limit that counts.',
      response: { 200: OwnUsage.describe('What was used, and what is left.'), ...errorResponses() },
    },
    handler: ({ caller }) => usage.own(caller),
  })
}

/** Who has used what, for the operator. */
export const usageRoutes: FastifyPluginAsyncZod<Services> = async (app, { usage }) => {
  app.get('/admin/usage', {
    schema: {
      operationId: 'getUsage',
      summary: 'Get who has used what',
      description:
        'Returns tokens and costs of models by day, person, group, key, agent or model, for `USAGE_DAYS`. Work of the server itself, such as contexts of passages, has none of these but the model and the day.',
      querystring: UsageQuery,
      response: { 200: UsageReport.describe('The sums.'), ...errorResponses() },
    },
    handler: ({ query, caller }) => usage.report(query, shareOf(caller)),
  })

  app.get('/admin/usage/export', {
    schema: {
      operationId: 'exportUsage',
      summary: 'Export who has used what, as CSV',
      description:
        'The rows of `GET /admin/usage`, with a line of names first. More than 10,000 are refused.',
      querystring: UsageQuery.omit({ limit: true }),
      response: {
        200: {
          description: 'The rows.',
          content: { 'text/csv': { schema: z.string() } },
        },
        ...errorResponses(),
      },
    },
    handler: async ({ query, caller }, reply) => {
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="usage.csv"')
      return reply.send(await usage.csv(query, shareOf(caller)))
    },
  })
}
