import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponsesIn } from '@agent-server/schemas/error.ts'
import {
  attachFiles,
  createEndpoint,
  type DialectServices,
  refuseMissing,
  tokensOf,
} from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { createMessagesDialect, MESSAGES_ERROR } from './dialect.ts'
import { filesIn, toAgentRequest } from './request.ts'
import { CountTokensRequest, Message, MessageEvent, MessagesRequest, TokenCount } from './schema.ts'

/** Anthropic's clients send the key in a header of its own. */
const CONFIG = {
  scopes: ['chat'],
  keyHeader: 'x-api-key',
  toErrorBody: MESSAGES_ERROR.toErrorBody,
} as const

export const messageRoutes: FastifyPluginAsyncZod<DialectServices> = async (app, services) => {
  groupRoutes(app, 'chat')
  const { dialects, readFiles } = services
  const messages = createEndpoint(services, createMessagesDialect(dialects))
  // Anthropic's name of the header in which its clients look.
  app.addHook('onRequest', async (request, reply) => void reply.header('request-id', request.id))

  app.post('/v1/messages', {
    config: { ...CONFIG, takesLong: dialects.chatModel.generates },
    schema: {
      operationId: 'createMessage',
      summary: 'Create a message, in Anthropic’s protocol',
      description:
        'The key may also be sent as `x-api-key`. The server runs its own tools; `agent.hits`, in a stream on `message_delta`, holds the passages that `[n]` cites.',
      body: MessagesRequest,
      response: {
        200: {
          description: 'The message, or its events as they are generated.',
          content: {
            'application/json': { schema: Message },
            'text/event-stream': { schema: MessageEvent },
          },
        },
        ...errorResponsesIn(MESSAGES_ERROR, [429, 502, 504]),
      },
    },
    handler: ({ body }, reply) =>
      body.stream ? messages.stream(body, reply) : messages.whole(body, reply),
  })

  app.post('/v1/messages/count_tokens', {
    config: CONFIG,
    schema: {
      operationId: 'countMessageTokens',
      summary: 'Estimate the tokens of a message, in Anthropic’s protocol',
      description: 'Estimates the input tokens of a request without asking the model.',
      body: CountTokensRequest,
      response: {
        200: TokenCount.describe('The estimate.'),
        ...errorResponsesIn(MESSAGES_ERROR, []),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const request = toAgentRequest(body, caller, dialects)
      const files = filesIn(body)
      return {
        input_tokens: tokensOf(await attachFiles(request, files, readFiles, callSignal(reply))),
      }
    },
  })

  const instead = 'Use /v1/messages.'
  refuseMissing(app, { '/v1/messages/batches': instead, '/v1/complete': instead }, CONFIG)
}
