import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { within } from '@agent-server/schemas/collection.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { QueryRequest, QueryResponse } from '@agent-server/schemas/query.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { SearchingAgent } from '../agent/run/run-agent.ts'
import type { CorpusFor } from '../documents/corpus-access.ts'

interface QueryServices {
  corpusFor: CorpusFor
  agent: Pick<SearchingAgent, 'query'>
}

export const queryRoutes: FastifyPluginAsyncZod<QueryServices> = async (
  app,
  { corpusFor, agent },
) => {
  groupRoutes(app, 'knowledge')
  app.post('/query', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'query',
      summary: 'Search the documents',
      description:
        'Returns the passages that answer a question, ranked by words and meaning, with their document, place and score. Uses no chat model unless `effort` is medium or high, or RERANK_MODEL is `chat`.',
      body: QueryRequest,
      response: { 200: QueryResponse.describe('The chunks, best first.'), ...errorResponses(429) },
    },
    handler: async ({ body, caller }, reply) => {
      const { retrieval } = corpusFor(caller)
      const { corrections, degraded, ...found } = await agent.query(
        { ...body, filter: within(body) },
        { caller, retrieval },
        callSignal(reply),
      )
      return {
        query: body.query,
        ...found,
        ...(corrections.length > 0 && { corrections }),
        ...(degraded && { degraded }),
      }
    },
  })
}
