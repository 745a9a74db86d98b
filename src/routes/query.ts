import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import { within } from '../schemas/metadata.ts'
import { QueryRequest, QueryResponse } from '../schemas/query.ts'
import type { UploadServices } from './document-uploads.ts'
import { documentRoutes } from './documents.ts'

export const knowledgeRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  groupRoutes(app, 'knowledge')
  app.post('/query', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'query',
      summary: 'Retrieve the most relevant chunks for a query',
      body: QueryRequest,
      response: { 200: QueryResponse.describe('The chunks, best first.'), ...errorResponses() },
    },
    handler: async ({ body, caller }, reply) => {
      const { retrieval } = services.limitedTo(caller)
      const { hits, degraded } = await retrieval.search(
        { ...body, filter: within(body) },
        callSignal(reply),
      )
      return { query: body.query, hits, ...(degraded && { degraded }) }
    },
  })
  app.register(documentRoutes, services)
}
