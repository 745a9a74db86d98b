import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { Protocol } from '../upstream/protocol.ts'
import { createAnswerReader } from './answer-reader.ts'
import { FALLBACKS } from './fallbacks.ts'
import { toRequestBody } from './request-body.ts'

/** OpenAI's chat completions, which most servers of models speak, each in its own way. */
export const completions: Protocol<ChatCompletionCreateParams> = {
  api: 'chat-completions',
  path: '/chat/completions',
  toBody: toRequestBody,
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
    'response_format.json_schema.strict',
    'stream_options',
    'return_progress',
    'prompt_cache_key',
  ]),
}
