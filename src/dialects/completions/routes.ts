import { prefersJson } from '@agent-server/http/event-stream.ts'
import { hasOpenAiDefaults } from '@agent-server/http/openai-base-path.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import {
  createEndpoint,
  createModels,
  type DialectServices,
  refuseMissing,
} from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { CorpusFor } from '../../documents/corpus-access.ts'
import { Completion, CompletionChunk, Model, ModelList, ModelParams } from './answer-schema.ts'
import { createCompletionsDialect } from './dialect.ts'
import { MISSING } from './missing.ts'
import { CompletionRequest } from './schema.ts'
import { createTextCompletionsDialect } from './text-dialect.ts'
import { TextCompletion, TextCompletionRequest } from './text-schema.ts'

interface Services extends DialectServices {
  corpusFor: CorpusFor
}

export const completionRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  groupRoutes(app, 'chat')
  const { dialects, corpusFor } = services
  const completions = createEndpoint(services, createCompletionsDialect(dialects))
  const texts = createEndpoint(services, createTextCompletionsDialect(dialects))
  const models = createModels(dialects, corpusFor)

  app.post('/v1/chat/completions', {
    config: { scopes: ['chat'], takesLong: dialects.chatModel.generates },
    schema: {
      operationId: 'createChatCompletion',
      summary: 'Create a chat completion',
      description:
        'Streams unless `stream` is false or, where it is omitted, the `Accept` header names JSON and does not prefer event streams. Below `/openai/v1`, an omitted `stream` is false. The server runs its own tools; `agent.hits` holds the passages that `[n]` cites.',
      body: CompletionRequest,
      response: {
        200: {
          description: 'The completion, or its chunks as they are generated.',
          content: {
            'application/json': { schema: Completion },
            'text/event-stream': { schema: CompletionChunk },
          },
        },
        ...errorResponses(429, 502, 504),
      },
    },
    handler: (request, reply) => {
      const { body, headers } = request
      const isStreamed = body.stream ?? !(hasOpenAiDefaults(request) || prefersJson(headers))
      return isStreamed ? completions.stream(body, reply) : completions.whole(body, reply)
    },
  })

  app.post('/v1/completions', {
    config: { scopes: ['chat'], takesLong: dialects.chatModel.generates },
    schema: {
      operationId: 'createCompletion',
      summary: 'Create a completion of a text',
      description:
        'Older form of `POST /v1/chat/completions`, for programs that know no other: the prompt is the question. Streams if `stream` is true.',
      body: TextCompletionRequest,
      response: {
        200: {
          description: 'The completion, or its chunks as they are generated.',
          content: {
            'application/json': { schema: TextCompletion },
            'text/event-stream': { schema: TextCompletion },
          },
        },
        ...errorResponses(429, 502, 504),
      },
    },
    handler: ({ body }, reply) =>
      body.stream ? texts.stream(body, reply) : texts.whole(body, reply),
  })

  app.get('/v1/models', {
    // Anthropic's clients list models here, too, with the key in a header of their own.
    config: { scopes: ['query', 'chat'], keyHeader: 'x-api-key' },
    schema: {
      operationId: 'listModels',
      summary: 'List the agent as a model',
      description:
        'The agent appears as one model, and once more for each collection that the key may search, up to the hundred largest.',
      response: {
        200: ModelList.describe('The agent, the agent over each collection, and the model alone.'),
        ...errorResponses(),
      },
    },
    handler: ({ caller }, reply) => models.list(caller, callSignal(reply)),
  })

  app.get('/v1/models/:model', {
    config: { scopes: ['query', 'chat'], keyHeader: 'x-api-key' },
    schema: {
      operationId: 'getModel',
      summary: 'Get the agent as a model',
      description:
        'Returns an agent that the caller may use, alone or over a collection: `letters`, `letters:handbook`.',
      params: ModelParams,
      response: { 200: Model.describe('The agent.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }, reply) => models.get(params.model, caller, callSignal(reply)),
  })

  refuseMissing(app, MISSING)
}
