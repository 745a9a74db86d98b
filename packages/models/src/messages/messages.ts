import type { Protocol } from '../upstream/protocol.ts'
import { createAnswerReader } from './answer-reader.ts'
import { FALLBACKS } from './fallbacks.ts'
import { type MessagesBody, toRequestBody } from './request-body.ts'

/** Anthropic's Messages, which gateways to Claude speak, too, and servers of other models beside chat completions. */
export const messages: Protocol<MessagesBody> = {
  api: 'messages',
  path: '/messages',
  version: '/v1',
  toBody: toRequestBody,
  createReader: createAnswerReader,
  fallbacks: FALLBACKS,
  optional: new Set([
    'temperature',
    'top_p',
    'stop_sequences',
    'tool_choice',
    'output_config',
    'output_config.effort',
    'thinking',
    'thinking.display',
  ]),
}
