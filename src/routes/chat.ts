import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { acceptsJsonOnly, type Begin, type FrameFormat, sendEvents } from '../http/event-stream.ts'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import { ChatFrame, ChatRequest } from '../schemas/chat.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  Completion,
  CompletionChunk,
  CompletionRequest,
  Model,
  ModelList,
  ModelParams,
} from '../schemas/openai/completion.ts'
import type { Chat } from '../services/chat/chat.ts'

const CHAT_FRAMES: FrameFormat<ChatFrame> = {
  encode: (frame) => {
    const name = frame.type === 'done' ? 'done' : 'message'
    return `event: ${name}\ndata: ${JSON.stringify(frame)}\n\n`
  },
  encodeError: ({ error }) => `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`,
  end: '',
}

// Chat-completions clients cannot handle named events, so every frame is a plain data line.
const COMPLETION_FRAMES: FrameFormat<CompletionChunk> = {
  encode: (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
  encodeError: (body) => `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`,
  end: 'data: [DONE]\n\n',
}

const modelErrors = errorResponses(429, 502, 504)

export const chatRoutes: FastifyPluginAsyncZod<{ chat: Chat }> = async (app, { chat }) => {
  groupRoutes(app, 'chat')
  const chatPaths = [
    { url: '/chat', operationId: 'chat' },
    { url: '/agent/chat', operationId: 'agentChat' },
  ]
  for (const { url, operationId } of chatPaths) {
    app.post(url, {
      config: { scopes: ['chat'] },
      schema: {
        operationId,
        summary: 'Stream an answer with citations',
        description:
          'Server-sent events: `text-delta` frames (event `message`), then one `done` (event `done`) or one `error` (event `error`). See `ChatFrame`.',
        body: ChatRequest,
        response: {
          200: {
            description: 'The answer as it is generated.',
            content: { 'text/event-stream': { schema: ChatFrame } },
          },
          ...modelErrors,
        },
      },
      handler: (request, reply) => {
        const signal = callSignal(reply)
        const { body, caller } = request
        const begin: Begin<ChatFrame> = (shortcut) => chat.frames(body, caller, shortcut, signal)
        return sendEvents(reply, begin, CHAT_FRAMES)
      },
    })
  }
  app.register(completionRoutes, { chat })
}

const completionRoutes: FastifyPluginAsyncZod<{ chat: Chat }> = async (app, { chat }) => {
  app.post('/v1/chat/completions', {
    config: { scopes: ['chat'] },
    schema: {
      operationId: 'createChatCompletion',
      summary: 'Chat through the chat-completions interface',
      description:
        'Streams unless `stream` is false, or is left out by a client whose `Accept` header names JSON alone. The server’s own tools run inside; `agent.hits` holds what `[n]` cites.',
      body: CompletionRequest,
      response: {
        200: {
          description: 'One completion, or its chunks as they are generated.',
          content: {
            'application/json': { schema: Completion },
            'text/event-stream': { schema: CompletionChunk },
          },
        },
        ...modelErrors,
      },
    },
    handler: ({ body, caller, headers }, reply) => {
      const signal = callSignal(reply)
      const begin: Begin<CompletionChunk> = (shortcut) =>
        chat.chunks(body, caller, shortcut, signal)
      return (body.stream ?? !acceptsJsonOnly(headers))
        ? sendEvents(reply, begin, COMPLETION_FRAMES)
        : chat.complete(body, caller, signal)
    },
  })

  app.get('/v1/models', {
    config: { scopes: ['query', 'chat'] },
    schema: {
      operationId: 'listModels',
      summary: 'List the agent as a model',
      response: {
        200: ModelList.describe('The agent, and the agent over each collection.'),
        ...errorResponses(),
      },
    },
    handler: ({ caller }, reply) => chat.models(caller, callSignal(reply)),
  })

  app.get('/v1/models/:model', {
    config: { scopes: ['query', 'chat'] },
    schema: {
      operationId: 'getModel',
      summary: 'Read the agent as a model',
      params: ModelParams,
      response: { 200: Model.describe('The agent.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }, reply) => chat.model(params.model, caller, callSignal(reply)),
  })
}
