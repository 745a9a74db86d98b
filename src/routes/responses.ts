import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type FrameFormat, sendEvents } from '../http/event-stream.ts'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  InputItemsQuery,
  ResponseParams,
  ResponseQuery,
  ResponseRequest,
} from '../schemas/response.ts'
import {
  InputItemList,
  ResponseDeleted,
  ResponseEvent,
  ResponseObject,
} from '../schemas/response-object.ts'
import type { Responses } from '../services/chat/responses.ts'

const tags = ['chat']

const encode = (event: ResponseEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

export function responseRoutes(responses: Responses, stopping: AbortSignal): FastifyPluginAsyncZod {
  return async (app) => {
    app.post('/v1/responses', {
      config: { scopes: ['chat'] },
      schema: {
        operationId: 'createResponse',
        summary: 'Chat through the Responses interface',
        description:
          'The same agent as in chat completions. Its searches are `file_search_call` items, its citations `file_citation` annotations; calls of the client’s functions end the response. What cannot be followed is refused by name.',
        tags,
        body: ResponseRequest,
        response: {
          200: {
            description: 'The response, or with `stream` its events as they happen.',
            content: {
              'application/json': { schema: ResponseObject },
              'text/event-stream': { schema: ResponseEvent },
            },
          },
          ...errorResponses(429, 502, 504, 507),
        },
      },
      handler: ({ body, caller }, reply) => {
        const signal = callSignal(reply, stopping)
        if (!body.stream) return responses.create(body, caller, signal)
        const { begin, failure } = responses.stream(body, caller, signal)
        const format: FrameFormat<ResponseEvent> = {
          encode,
          encodeError: ({ error }) => failure(error).map(encode).join(''),
          end: '',
        }
        return sendEvents(reply, begin, format)
      },
    })

    app.get('/v1/responses/:id', {
      config: { scopes: ['chat'] },
      schema: {
        operationId: 'getResponse',
        summary: 'Read a response that was kept',
        tags,
        params: ResponseParams,
        querystring: ResponseQuery,
        response: { 200: ResponseObject.describe('The response.'), ...errorResponses(404) },
      },
      handler: ({ params, caller }) => responses.get(params.id, caller),
    })

    app.get('/v1/responses/:id/input_items', {
      config: { scopes: ['chat'] },
      schema: {
        operationId: 'listInputItems',
        summary: 'List what a kept response answered',
        description: 'Its input, after all that was said before it.',
        tags,
        params: ResponseParams,
        querystring: InputItemsQuery,
        response: { 200: InputItemList.describe('A page of items.'), ...errorResponses(404) },
      },
      handler: ({ params, query, caller }) => responses.inputItems(params.id, query, caller),
    })

    app.delete('/v1/responses/:id', {
      config: { scopes: ['chat'] },
      schema: {
        operationId: 'deleteResponse',
        summary: 'Delete a response that was kept',
        description: 'What went on from it keeps what was said until then.',
        tags,
        params: ResponseParams,
        response: { 200: ResponseDeleted.describe('Deleted.'), ...errorResponses(404) },
      },
      handler: ({ params, caller }) => responses.remove(params.id, caller),
    })
  }
}
