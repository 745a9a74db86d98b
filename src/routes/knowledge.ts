import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/call-signal.ts'
import { errorResponses } from '../schemas/error.ts'
import { QueryRequest, QueryResponse } from '../schemas/query.ts'
import type { Documents } from '../services/ingestion/create-documents.ts'
import type { Files } from '../services/ingestion/create-files.ts'
import type { Retrieval } from '../services/retrieval/create-retrieval.ts'
import { documentRoutes } from './documents.ts'

interface Services {
  documents: Documents
  files: Files
  retrieval: Retrieval
}

const tags = ['knowledge']

export function knowledgeRoutes(
  { documents, files, retrieval }: Services,
  stopping: AbortSignal,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      '/query',
      {
        schema: {
          operationId: 'query',
          summary: 'Retrieve the most relevant chunks for a query',
          tags,
          body: QueryRequest,
          response: { 200: QueryResponse.describe('The chunks, best first.'), ...errorResponses() },
        },
      },
      async ({ body }, reply) => {
        const { hits, degraded } = await retrieval.search(body, callSignal(reply, stopping))
        return { query: body.query, hits, ...(degraded && { degraded }) }
      },
    )

    app.register(documentRoutes(documents, files, stopping))
  }
}
