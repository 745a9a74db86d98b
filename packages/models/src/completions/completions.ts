import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import { answerFetch } from '../upstream/connection.ts'
import { openAiClient } from '../upstream/openai-client.ts'
import type { Protocol } from '../upstream/protocol.ts'
import { createAnswerReader } from './answer-reader.ts'
import { FALLBACKS } from './fallbacks.ts'
import { toRequestBody } from './request-body.ts'

/** OpenAI's chat completions, which most servers of models speak, each in its own way. */
export const completions: Protocol<ChatCompletionCreateParams> = {
  api: 'chat-completions',
  path: '/chat/completions',
  toBody: toRequestBody,
  async connect(server) {
    const client = await openAiClient(server)
    return {
      send(body, call) {
        const { signal } = call
        // An answer that is not streamed comes as the only event of a stream.
        return client
          .withOptions({ fetch: answerFetch(server, call) })
          .post<AsyncIterable<unknown>>('/chat/completions', { body, signal, stream: true })
      },
    }
  },
  createReader: createAnswerReader,
  fallbacks: FALLBACKS,
  optional: new Set([
    'temperature',
    'top_p',
    'max_tokens',
    'max_completion_tokens',
    'stop',
    'presence_penalty',
    'frequency_penalty',
    'seed',
    'reasoning_effort',
    'tool_choice',
    'stream_options',
    'return_progress',
    'prompt_cache_key',
  ]),
}
