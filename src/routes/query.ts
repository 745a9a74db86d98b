import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import { within } from '../schemas/metadata.ts'
import { QueryRequest, QueryResponse } from '../schemas/query.ts'
import type { Retrieval } from '../services/retrieval/search.ts'
import { type DocumentServices, documentRoutes } from './documents.ts'

interface Services extends DocumentServices {
  retrieval: Retrieval
}

const tags = ['knowledge']

export function knowledgeRoutes(
  { retrieval, ...services }: Services,
  stopping: AbortSignal,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.post('/query', {
      schema: {
        operationId: 'query',
        summary: 'Retrieve the most relevant chunks for a query',
        tags,
        body: QueryRequest,
        response: { 200: QueryResponse.describe('The chunks, best first.'), ...errorResponses() },
      },
      handler: async ({ body }, reply) => {
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
