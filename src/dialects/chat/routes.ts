import { report } from '@agent-server/http/error-handler.ts'
import { sendEvents } from '@agent-server/http/event-stream.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { ChatFrame, ChatRequest } from '@agent-server/schemas/chat.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { createStream, type DialectServices } from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { Answers } from '../../conversations/answers.ts'
import { CHAT_FORMAT, createChatDialect, toQuestion } from './dialect.ts'

interface Services extends DialectServices {
  answers: Answers
}

const FRAMES =
  'Streams server-sent events: `text-delta` frames (event `message`), then one `done` (event `done`) or one `error` (event `error`). See `ChatFrame`.'

export const chatRoutes: FastifyPluginAsyncZod<Services> = async (app, services) => {
  groupRoutes(app, 'chat')
  const stream = createStream(services, createChatDialect(services.dialects))
  const paths = [
    { url: '/chat', operationId: 'chat', description: FRAMES },
    { url: '/agent/chat', operationId: 'agentChat', description: 'Same as `POST /chat`.' },
  ]
  for (const { url, operationId, description } of paths) {
    app.post(url, {
      config: { scopes: ['chat'], takesLong: services.dialects.chatModel.generates },
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
        const { request } = reply
        const question = toQuestion(body, request.caller, services.dialects)
        if (!question) return stream(body, reply)
        const failures = {
          report: (error: unknown) => report(error, request).error,
          log: request.log,
        }
        const frames = services.answers.ask(question, failures, callSignal(reply))
        sendEvents(reply, frames, CHAT_FORMAT)
      },
    })
  }
}
