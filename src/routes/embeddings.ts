import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AppError } from '../errors.ts'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import { Embeddings, EmbeddingsRequest } from '../schemas/openai/embeddings.ts'
import type { createEmbeddings } from '../services/embedding/embedding.ts'

interface Services {
  embed: ReturnType<typeof createEmbeddings>
}

export const embeddingRoutes: FastifyPluginAsyncZod<Services> = async (app, { embed }) => {
  app.post('/v1/embeddings', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'createEmbeddings',
      summary: 'Make vectors with the embedding model of the server',
      description: 'Refused where there is none: see `EMBEDDING_MODEL`.',
      tags: ['knowledge'],
      body: EmbeddingsRequest,
      response: {
        200: Embeddings.describe('In the order of the input.'),
        ...errorResponses(502),
      },
    },
    handler: ({ body, caller }, reply) => embed(body, caller, callSignal(reply)),
  })

  app.post('/v1/completions', { config: { scopes: ['chat'] }, schema: { hide: true } }, () => {
    const message = 'There is no /v1/completions: use /v1/chat/completions, or /v1/responses'
    throw new AppError('route_not_found', message)
  })
}
