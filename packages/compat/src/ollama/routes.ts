import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { errorResponsesIn } from '@agent-server/schemas/error.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { SCOPES } from '@agent-server/schemas/operator/api-key.ts'
import {
  createEndpoint,
  createModels,
  type DialectServices,
  type Payment,
} from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { createEmbeddings } from '../embeddings/embeddings.ts'
import type { CorpusServices, Description, Embedding } from '../services.ts'
import {
  createChatDialect,
  createGenerateDialect,
  createOllamaModels,
  OLLAMA_VERSION,
} from './dialect.ts'
import {
  OLLAMA_ERROR,
  OllamaChatAnswer,
  OllamaChatRequest,
  OllamaEmbedding,
  OllamaEmbeddingRequest,
  OllamaEmbeddings,
  OllamaEmbedRequest,
  OllamaGenerateAnswer,
  OllamaGenerateRequest,
  OllamaModelInfo,
  OllamaModels,
  OllamaShowRequest,
  OllamaVersion,
} from './schema.ts'
import { chatFields, generateFields, loadedAnswer, nanoseconds } from './writer.ts'

interface Services extends DialectServices, Pick<CorpusServices, 'corpusFor'> {
  description: Description
  embedding: Embedding | undefined
  payment: Payment
}

const { toErrorBody } = OLLAMA_ERROR
const CHAT = { scopes: ['chat'], toErrorBody } as const
const READ = { scopes: ['query', 'chat'], toErrorBody } as const
const errorResponses = (...more: number[]) => errorResponsesIn(OLLAMA_ERROR, more)

const inBoth = (schema: typeof OllamaChatAnswer | typeof OllamaGenerateAnswer) => ({
  200: {
    description: 'The answer, or its lines as they are generated.',
    content: { 'application/json': { schema }, 'application/x-ndjson': { schema } },
  },
  ...errorResponses(429, 502, 504),
})

/** Ollama's API, for programs that speak no other. */
export const ollamaRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  groupRoutes(app, 'chat')
  await app.register(modelRoutes, services)
  const { dialects } = services
  const embed = createEmbeddings(services.embedding, services.payment)
  const chat = createEndpoint(services, createChatDialect(dialects))
  const generate = createEndpoint(services, createGenerateDialect(dialects))

  app.post('/api/chat', {
    config: { ...CHAT, takesLong: dialects.chatModel.generates },
    schema: {
      operationId: 'ollamaChat',
      summary: 'Chat, in Ollama’s protocol',
      description:
        'Streams lines of JSON unless `stream` is false. The server runs its own tools; `agent.hits` in the last line holds the passages that `[n]` cites.',
      body: OllamaChatRequest,
      response: inBoth(OllamaChatAnswer),
    },
    handler: ({ body }, reply) => {
      if (!body.messages?.length) return loadedAnswer(body.model, chatFields)
      return (body.stream ?? true) ? chat.stream(body, reply) : chat.whole(body, reply)
    },
  })

  app.post('/api/generate', {
    config: { ...CHAT, takesLong: dialects.chatModel.generates },
    schema: {
      operationId: 'ollamaGenerate',
      summary: 'Answer one question, in Ollama’s protocol',
      description: 'Like `/api/chat`, for a single question.',
      body: OllamaGenerateRequest,
      response: inBoth(OllamaGenerateAnswer),
    },
    handler: ({ body }, reply) => {
      if (!body.prompt?.trim() && !body.images?.length) {
        return loadedAnswer(body.model, generateFields)
      }
      return (body.stream ?? true) ? generate.stream(body, reply) : generate.whole(body, reply)
    },
  })

  app.post('/api/embed', {
    config: { scopes: ['query'], toErrorBody, takesLong: true },
    schema: {
      operationId: 'ollamaEmbed',
      summary: 'Create embeddings, in Ollama’s protocol',
      description: 'Same as `POST /v1/embeddings`.',
      tags: ['knowledge'],
      body: OllamaEmbedRequest,
      response: {
        200: OllamaEmbeddings.describe('The embeddings, in the order of the input.'),
        ...errorResponses(502),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const startedAt = performance.now()
      const input = { texts: [body.input].flat(), dimensions: body.dimensions }
      const { model, vectors, tokens } = await embed(input, caller, callSignal(reply))
      return {
        model,
        embeddings: vectors.map((vector) => [...vector]),
        total_duration: nanoseconds(performance.now() - startedAt),
        load_duration: 0,
        prompt_eval_count: tokens,
      }
    },
  })

  app.post('/api/embeddings', {
    config: { scopes: ['query'], toErrorBody, takesLong: true },
    schema: {
      operationId: 'ollamaEmbeddings',
      summary: 'Create one embedding, in Ollama’s older protocol',
      description: 'Older form of `POST /api/embed`.',
      tags: ['knowledge'],
      body: OllamaEmbeddingRequest,
      response: {
        200: OllamaEmbedding.describe('The embedding.'),
        ...errorResponses(502),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const { vectors } = await embed({ texts: [body.prompt] }, caller, callSignal(reply))
      return { embedding: [...(vectors[0] ?? [])] }
    },
  })

  const everyKey = { scopes: SCOPES, toErrorBody }
  app.all('/api/*', { config: everyKey, schema: { hide: true } }, ({ method, url }) => {
    const [path] = url.split('?')
    const message = `${method} ${path} of Ollama's API is not supported; see docs/reference/dialects.md`
    throw new AppError('route_not_found', message)
  })
}

/** The agent as one of Ollama's models. */
const modelRoutes: FastifyPluginAsyncZod<Services> = async (
  app,
  { dialects, corpusFor, description },
) => {
  const models = createOllamaModels(dialects, createModels(dialects, corpusFor), description)

  app.get('/api/tags', {
    config: READ,
    schema: {
      operationId: 'ollamaTags',
      summary: 'List the agent as a model, in Ollama’s protocol',
      description: 'Lists the agent for programs that speak Ollama’s protocol.',
      response: {
        200: OllamaModels.describe('The agent as one model, and as one more for each collection.'),
        ...errorResponses(),
      },
    },
    handler: ({ caller }, reply) => models.list(caller, callSignal(reply)),
  })

  app.post('/api/show', {
    config: READ,
    schema: {
      operationId: 'ollamaShow',
      summary: 'Get the agent as a model, in Ollama’s protocol',
      description: 'Tells programs that speak Ollama’s protocol what the agent can do.',
      body: OllamaShowRequest,
      response: { 200: OllamaModelInfo.describe('The agent.'), ...errorResponses(404) },
    },
    handler: ({ body: { model, name = model }, caller }, reply) => {
      if (!name) throw refusal('model', 'is required')
      return models.show(name, caller, callSignal(reply))
    },
  })

  app.get('/api/ps', {
    config: READ,
    schema: {
      operationId: 'ollamaPs',
      summary: 'List the running models, in Ollama’s protocol',
      description: 'The same as `GET /api/tags`: the agent always runs.',
      response: { 200: OllamaModels.describe('The agent.'), ...errorResponses() },
    },
    handler: ({ caller }, reply) => models.list(caller, callSignal(reply)),
  })

  app.get('/api/version', {
    config: READ,
    schema: {
      operationId: 'ollamaVersion',
      summary: 'Get the version of Ollama’s protocol',
      description:
        'Returns the version of Ollama whose protocol is spoken, not that of this server.',
      response: { 200: OllamaVersion.describe('The version.'), ...errorResponses() },
    },
    handler: () => ({ version: OLLAMA_VERSION }),
  })
}
