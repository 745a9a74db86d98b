import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { type FrameFormat, sendEvents } from '../http/event-stream.ts'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  InputItemsQuery,
  ResponseParams,
  ResponseQuery,
  ResponseRequest,
} from '../schemas/openai/response.ts'
import {
  InputItemList,
  ResponseDeleted,
  ResponseEvent,
  ResponseObject,
} from '../schemas/openai/response-object.ts'
import type { Responses } from '../services/chat/responses.ts'

const encode = (event: ResponseEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

interface Services {
  responses: Responses
}

export const responseRoutes: FastifyPluginAsyncZod<Services> = async (app, { responses }) => {
  groupRoutes(app, 'chat', ['chat'])
  app.post('/v1/responses', {
    schema: {
      operationId: 'createResponse',
      summary: 'Chat through the Responses interface',
      description:
        'The same agent as in chat completions. Its searches are `file_search_call` items, its citations `file_citation` annotations; calls of the client’s functions end the response. What cannot be followed is refused by name.',
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
      const signal = callSignal(reply)
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
    schema: {
      operationId: 'getResponse',
      summary: 'Read a response that was kept',
      params: ResponseParams,
      querystring: ResponseQuery,
      response: { 200: ResponseObject.describe('The response.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }) => responses.get(params.id, caller),
  })

  app.get('/v1/responses/:id/input_items', {
    schema: {
      operationId: 'listInputItems',
      summary: 'List what a kept response answered',
      description: 'Its input, after all that was said before it.',
      params: ResponseParams,
      querystring: InputItemsQuery,
      response: { 200: InputItemList.describe('A page of items.'), ...errorResponses(404) },
    },
    handler: ({ params, query, caller }) => responses.inputItems(params.id, query, caller),
  })

  app.delete('/v1/responses/:id', {
    schema: {
      operationId: 'deleteResponse',
      summary: 'Delete a response that was kept',
      description: 'What went on from it keeps what was said until then.',
      params: ResponseParams,
      response: { 200: ResponseDeleted.describe('Deleted.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }) => responses.remove(params.id, caller),
  })
}
