import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import type { LimitedTo } from '../knowledge/corpus-access.ts'
import { errorResponses } from '../schemas/error.ts'
import { within } from '../schemas/metadata.ts'
import { QueryRequest, QueryResponse } from '../schemas/query.ts'

interface QueryServices {
  limitedTo: LimitedTo
}

export const queryRoutes: FastifyPluginAsyncZod<QueryServices> = async (app, { limitedTo }) => {
  groupRoutes(app, 'knowledge')
  app.post('/query', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'query',
      summary: 'Search the documents',
      description:
        'Returns the passages that answer a question, ranked by words and meaning, with their document, place and score. Uses no chat model.',
      body: QueryRequest,
      response: { 200: QueryResponse.describe('The chunks, best first.'), ...errorResponses() },
    },
    handler: async ({ body, caller }, reply) => {
      const { retrieval } = limitedTo(caller)
      const { hits, degraded } = await retrieval.search(
        { ...body, filter: within(body) },
        callSignal(reply),
      )
      return { query: body.query, hits, ...(degraded && { degraded }) }
    },
  })
}
