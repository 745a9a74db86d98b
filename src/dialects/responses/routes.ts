import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { attachFiles, createEndpoint, type DialectServices, tokensOf } from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { createResponsesDialect } from './dialect.ts'
import { filesIn, toAgentRequest } from './request.ts'
import { gatherItems, ownItems, type ResponseHistory } from './response-input.ts'
import {
  InputItemList,
  InputTokens,
  ResponseDeleted,
  ResponseEvent,
  ResponseObject,
} from './response-schema.ts'
import { InputItemsQuery, ResponseParams, ResponseQuery, ResponseRequest } from './schema.ts'
import type { StoredResponses } from './stored-responses.ts'

interface Services extends DialectServices, ResponseHistory {
  storedResponses: StoredResponses
}

export const responseRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  groupRoutes(app, 'chat', ['chat'])
  const { storedResponses } = services
  const dialect = createResponsesDialect(services.dialects, services)
  const responses = createEndpoint(services, dialect)

  app.post('/v1/responses', {
    config: { takesLong: services.dialects.chatModel.generates },
    schema: {
      operationId: 'createResponse',
      summary: 'Create a response',
      description:
        'Uses the same agent as chat completions. Citations are `file_citation` annotations. Searches are returned as `file_search_call` items if `tools` has `file_search` or `include` asks for their results. Calls of the client’s functions end the response. Unsupported parameters are refused by name.',
      body: ResponseRequest,
      response: {
        200: {
          description: 'The response or, with `stream`, its events.',
          content: {
            'application/json': { schema: ResponseObject },
            'text/event-stream': { schema: ResponseEvent },
          },
        },
        ...errorResponses(429, 502, 504, 507),
      },
    },
    handler: ({ body }, reply) =>
      body.stream ? responses.stream(body, reply) : responses.whole(body, reply),
  })

  app.post('/v1/responses/input_tokens', {
    schema: {
      operationId: 'countInputTokens',
      summary: 'Estimate the tokens of a response’s input',
      description:
        'Takes the same body as `POST /v1/responses`. Counts everything said before in the conversation.',
      body: ResponseRequest,
      response: { 200: InputTokens.describe('The estimate.'), ...errorResponses(404) },
    },
    handler: async ({ body, caller }, reply) => {
      const items = await gatherItems(services, body, caller)
      const request = toAgentRequest(body, items, caller, services.dialects)
      const files = filesIn(items, ownItems(body))
      const whole = await attachFiles(request, files, services.readFiles, callSignal(reply))
      return { object: 'response.input_tokens' as const, input_tokens: tokensOf(whole) }
    },
  })

  app.get('/v1/responses/:id', {
    schema: {
      operationId: 'getResponse',
      summary: 'Get a stored response',
      description: 'Returns a response that was stored, as long as it is kept.',
      params: ResponseParams,
      querystring: ResponseQuery,
      response: { 200: ResponseObject.describe('The response.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }) => storedResponses.get(params.id, caller),
  })

  app.get('/v1/responses/:id/input_items', {
    schema: {
      operationId: 'listInputItems',
      summary: 'List input items',
      description:
        'Returns the earlier items of the conversation, then the input of this response.',
      params: ResponseParams,
      querystring: InputItemsQuery,
      response: { 200: InputItemList.describe('A page of items.'), ...errorResponses(404) },
    },
    handler: ({ params, query, caller }) => storedResponses.inputItems(params.id, query, caller),
  })

  app.delete('/v1/responses/:id', {
    schema: {
      operationId: 'deleteResponse',
      summary: 'Delete a stored response',
      description: 'Responses that continue from it are unaffected.',
      params: ResponseParams,
      response: { 200: ResponseDeleted.describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async ({ params: { id }, caller }) => {
      await storedResponses.remove(id, caller)
      return { id, object: 'response' as const, deleted: true as const }
    },
  })
}
