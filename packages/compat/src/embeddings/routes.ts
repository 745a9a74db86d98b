import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import type { Payment } from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { Embedding } from '../services.ts'
import { createEmbeddings, toEmbeddings } from './embeddings.ts'
import { Embeddings, EmbeddingsRequest } from './schema.ts'
import { textsOf } from './tokens.ts'

interface Services {
  embedding: Embedding | undefined
  payment: Payment
}

export const embeddingRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  const embed = createEmbeddings(services.embedding, services.payment)
  app.post('/v1/embeddings', {
    config: { scopes: ['query'], takesLong: true },
    schema: {
      operationId: 'createEmbeddings',
      summary: 'Create embeddings with the server’s embedding model',
      description: 'Refused if the server has no embedding model.',
      tags: ['knowledge'],
      body: EmbeddingsRequest,
      response: {
        200: Embeddings.describe('The embeddings, in the order of the input.'),
        ...errorResponses(502),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const { input, dimensions, encoding_format } = body
      const texts = await textsOf(input)
      const embedded = await embed({ texts, dimensions }, caller, callSignal(reply))
      return toEmbeddings(embedded, encoding_format)
    },
  })
}
