import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { CollectionList } from '@agent-server/schemas/collection.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { CorpusFor } from '../documents/corpus-access.ts'

export const collectionRoutes: FastifyPluginAsyncZod<{ corpusFor: CorpusFor }> = async (
  app,
  { corpusFor },
) => {
  groupRoutes(app, 'knowledge')
  app.get('/collections', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listCollections',
      summary: 'List the collections',
      description:
        'Returns `default` and up to 100 collections that have documents, with their numbers of documents.',
      response: { 200: CollectionList.describe('The collections.'), ...errorResponses() },
    },
    handler: async ({ caller }, reply) => ({
      collections: await corpusFor(caller).collectionSizes(callSignal(reply)),
    }),
  })
}
