import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import { within } from '../schemas/metadata.ts'
import { QueryRequest, QueryResponse } from '../schemas/query.ts'
import { type DocumentServices, documentRoutes } from './documents.ts'

const tags = ['knowledge']

export function knowledgeRoutes(
  services: DocumentServices,
  stopping: AbortSignal,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.post('/query', {
      config: { scopes: ['query'] },
      schema: {
        operationId: 'query',
        summary: 'Retrieve the most relevant chunks for a query',
        tags,
        body: QueryRequest,
        response: { 200: QueryResponse.describe('The chunks, best first.'), ...errorResponses() },
      },
      handler: async ({ body, caller }, reply) => {
        const { retrieval } = services.limitedTo(caller)
        const { hits, degraded } = await retrieval.search(
          { ...body, filter: within(body) },
          callSignal(reply, stopping),
        )
        return { query: body.query, hits, ...(degraded && { degraded }) }
      },
    })

    app.register(documentRoutes(services, stopping))
  }
}
