import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import { answerFetch } from '../upstream/connection.ts'
import { openAiClient } from '../upstream/openai-client.ts'
import type { Fallback, Protocol } from '../upstream/protocol.ts'
import { createAnswerReader } from './answer-reader.ts'
import { toRequestBody } from './request-body.ts'

const FALLBACKS: readonly Fallback[] = [
  {
    // A model that does not reason: "Encrypted content is not supported with this model."
    concerns: (body) => 'include' in body,
    refusal: /encrypted[_ ]content/i,
    omit: 'include',
    report: 'encrypted reasoning: it is not sent back with the results of tools',
  },
  {
    concerns: (body) => 'reasoning' in body,
    refusal: /reasoning summar|reasoning\.summary|verified to (?:generate|stream)/i,
    omit: 'reasoning.summary',
    report: 'summaries of the reasoning: none are shown',
  },
]

/** OpenAI's Responses, stateless: nothing is stored at the provider. */
export const responses: Protocol<ResponseCreateParamsStreaming> = {
  api: 'responses',
  path: '/responses',
  toBody: toRequestBody,
  async connect(server) {
    const client = await openAiClient(server)
    return {
      send(body, call) {
        const { responses } = client.withOptions({ fetch: answerFetch(server, call) })
        return responses.create(body, { signal: call.signal })
      },
    }
  },
  createReader: createAnswerReader,
  fallbacks: FALLBACKS,
  optional: new Set([
    'temperature',
    'top_p',
    'max_output_tokens',
    'tool_choice',
    'reasoning',
    'reasoning.effort',
    'reasoning.summary',
    'include',
    'store',
    'prompt_cache_key',
  ]),
}
