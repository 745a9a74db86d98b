import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { sendEvents } from '../../http/event-stream.ts'
import { groupRoutes } from '../../http/reference.ts'
import { callSignal } from '../../http/shutdown.ts'
import { ChatFrame, ChatRequest } from '../../schemas/chat.ts'
import { errorResponses } from '../../schemas/error.ts'
import { type Answers, isStored } from '../conversations/answers.ts'
import { createEndpoint, type DialectServices } from '../dialect.ts'
import { CHAT_FORMAT, createChatDialect } from './dialect.ts'

interface Services extends DialectServices {
  answers: Answers
}

const FRAMES =
  'Streams server-sent events: `text-delta` frames (event `message`), then one `done` (event `done`) or one `error` (event `error`). See `ChatFrame`.'

export const chatRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  groupRoutes(app, 'chat')
  const chat = createEndpoint(services, createChatDialect(services.dialects))
  const paths = [
    { url: '/chat', operationId: 'chat', description: FRAMES },
    { url: '/agent/chat', operationId: 'agentChat', description: 'Same as `POST /chat`.' },
  ]
  for (const { url, operationId, description } of paths) {
    app.post(url, {
      config: { scopes: ['chat'] },
      schema: {
        operationId,
        summary: 'Stream an answer with citations',
        description,
        body: ChatRequest,
        response: {
          200: {
            description: 'The answer as it is generated.',
            content: { 'text/event-stream': { schema: ChatFrame } },
          },
          ...errorResponses(404, 409, 429, 502, 504, 507),
        },
      },
      handler({ body }, reply) {
        if (!isStored(body)) return chat.stream(body, reply)
        sendEvents(reply, services.answers.ask(body, reply.request, callSignal(reply)), CHAT_FORMAT)
      },
    })
  }
}
