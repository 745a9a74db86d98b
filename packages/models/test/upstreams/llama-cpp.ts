import { errorReply, jsonReply, streamReply } from '../../../../test/support/upstream-replies.ts'
import { ANSWER, ANSWERED, DETAILED_TOOL, inCompletions, WITH_TOOLS } from './recorded.ts'

const error = (status: number, message: string, type = 'server_error', more: object = {}) =>
  jsonReply({ error: { code: status, message, type, ...more } }, status)

export const RECORDED = inCompletions([
  {
    name: 'llama.cpp knows no tools',
    source: 'ggml-org/llama.cpp#10920',
    request: WITH_TOOLS,
    replies: [error(500, 'Unsupported param: tools'), ANSWER],
    expected: { ...ANSWERED, sent: { tools: undefined, tool_choice: undefined } },
  },
  {
    name: 'llama.cpp makes no grammar of the schema of a tool',
    source: 'ggml-org/llama.cpp#25746',
    request: { tools: [DETAILED_TOOL] },
    replies: [
      error(400, 'Failed to initialize samplers: failed to parse grammar', 'invalid_request_error'),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { 'tools.0.function.parameters.properties.note': { type: 'string' } },
    },
  },
  {
    name: 'llama.cpp makes no grammar of a tool, however simple',
    source: 'ggml-org/llama.cpp#25895',
    request: { tools: [DETAILED_TOOL] },
    replies: [
      error(400, 'Failed to initialize samplers: failed to parse grammar', 'invalid_request_error'),
      error(400, 'Failed to initialize samplers: failed to parse grammar', 'invalid_request_error'),
      ANSWER,
    ],
    expected: { ...ANSWERED, requests: 3, sent: { tools: undefined } },
  },
  {
    name: 'llama.cpp loads the model',
    source: 'ggml-org/llama.cpp, server',
    replies: [
      errorReply(
        503,
        { message: 'Loading model', type: 'unavailable_error', code: 503 },
        { 'retry-after-ms': '1' },
      ),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'A relative of llama.cpp says nothing of a prompt that is too long',
    source: 'NousResearch/hermes-agent#65631',
    replies: [streamReply({ send: 'data: [DONE]\n\n' })],
    expected: { code: 'upstream_failed', message: /ended early: try again.*log/ },
  },
  {
    name: 'llama.cpp has a smaller window than the prompt',
    source: 'NousResearch/hermes-agent#65631, server',
    replies: [
      error(
        400,
        'request (32927 tokens) exceeds the available context size (32768 tokens), try increasing it',
        'exceed_context_size_error',
        { n_prompt_tokens: 32_927, n_ctx: 32_768 },
      ),
    ],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
])
