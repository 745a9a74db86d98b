import { responseEvent, responseReply } from '../../../../test/support/responses-replies.ts'
import { errorReply, jsonReply } from '../../../../test/support/upstream-replies.ts'
import type { ModelRequest, ReasoningPart } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { type Recorded, WITH_IMAGE, WITH_TOOLS } from './recorded.ts'

const NONE = 'invented: like others, but reported by nobody'
const refusal = (message: string, more: object = {}) =>
  errorReply(400, { message, type: 'invalid_request_error', ...more })
const call = { callId: 'call_1', name: TOOL.name, arguments: '{"query":"hours"}' }
const reasoned = (part: ReasoningPart): Partial<ModelRequest> => ({
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls: [call], reasoning: [part] },
    { role: 'tool', callId: 'call_1', content: 'At nine.' },
  ],
})
const ITEM: ReasoningPart = { form: 'item', id: 'rs_1', data: 'gAAA', summary: [] }
const AT_NINE = responseReply({ texts: ['At nine'] })
const api = 'responses' as const
const ONCE = { text: 'At nine', requests: 1 }
const TWICE = { text: 'At nine', requests: 2 }
const withoutResult: Partial<ModelRequest> = {
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'user', content: 'Never mind. When?' },
  ],
}
export const RECORDED: readonly Recorded[] = [
  {
    name: 'OpenAI cannot verify encrypted reasoning of earlier',
    source: 'openai/codex#8145',
    api,
    request: reasoned(ITEM),
    replies: [
      refusal('The encrypted content gAAA could not be verified.', {
        code: 'invalid_encrypted_content',
      }),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'OpenAI misses the item that reasoning led to',
    source: 'vercel/ai#7099',
    api,
    request: reasoned(ITEM),
    replies: [
      refusal("Item 'rs_1' of type 'reasoning' was provided without its required following item.", {
        param: 'input',
      }),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'OpenAI does not find an item of reasoning that it did not store',
    source: 'openai/openai-agents-python#2020',
    api,
    request: reasoned(ITEM),
    replies: [
      errorReply(404, {
        message:
          "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
        type: 'invalid_request_error',
        param: 'input',
      }),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'A call in Responses has no result',
    source: 'openai/openai-agents-python#873',
    api,
    request: withoutResult,
    replies: [AT_NINE],
    expected: { ...ONCE, sent: { 'input.2.type': 'function_call_output' } },
  },
  {
    name: 'OpenAI takes no fewer than sixteen tokens',
    source: 'vectorize-io/hindsight#58',
    api,
    request: { sampling: { maxTokens: 5 } },
    replies: [
      refusal(
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 5 instead.",
        { param: 'max_output_tokens', code: 'integer_below_min_value' },
      ),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'A stream in Responses has events that nobody documented',
    source: NONE,
    api,
    replies: [
      {
        steps: [
          responseEvent('keepalive', { sequence_number: 3 }),
          responseEvent('response.web_search_call.searching', { item_id: 'ws_1' }),
          responseEvent('codex.rate_limits', {}),
          ...AT_NINE.steps,
        ],
      },
    ],
    expected: ONCE,
  },
  {
    name: 'An effort in Responses is not one of the model',
    source: NONE,
    api,
    request: { sampling: { effort: 'minimal' } },
    replies: [
      refusal(
        "Unsupported value: 'minimal' is not supported with the 'gpt-6.1' model. Supported values are: 'low', 'medium', 'high'.",
        { param: 'reasoning.effort', code: 'unsupported_value' },
      ),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'A model in Responses takes no temperature',
    source: NONE,
    api,
    request: { sampling: { temperature: 0 } },
    replies: [
      refusal("Unsupported parameter: 'temperature' is not supported with this model.", {
        param: 'temperature',
      }),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'A model in Responses takes text alone',
    source: NONE,
    api,
    request: WITH_IMAGE,
    replies: [
      refusal("Invalid value: 'input_image'. Supported values are: 'input_text'.", {
        param: 'input[0].content[1].type',
      }),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'Responses streams only to verified organizations, and answers whole',
    source: NONE,
    api,
    replies: [
      refusal('Your organization must be verified to stream this model.', {
        param: 'stream',
        code: 'unsupported_value',
      }),
      jsonReply({
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'At nine' }],
          },
        ],
      }),
    ],
    expected: TWICE,
  },
  {
    name: 'JSON in Responses must be mentioned in the input',
    source: NONE,
    api,
    request: { sampling: { format: { type: 'json' } } },
    replies: [
      refusal(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        { param: 'input' },
      ),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'A server of Responses knows no include',
    source: NONE,
    api,
    replies: [refusal("Unknown parameter: 'include'.", { param: 'include' }), AT_NINE],
    expected: TWICE,
  },
  {
    name: 'A server of Responses takes fewer tokens of an answer',
    source: NONE,
    api,
    request: { sampling: { maxTokens: 999999 } },
    replies: [
      refusal(
        "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 999999 instead.",
        { param: 'max_output_tokens' },
      ),
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'Responses tells in the stream that the rate is limited',
    source: NONE,
    api,
    replies: [
      {
        steps: [
          responseEvent('response.created', { response: { status: 'in_progress' } }),
          responseEvent('response.failed', {
            response: {
              status: 'failed',
              error: {
                code: 'rate_limit_exceeded',
                message: 'Rate limit reached. Please try again in 1.5s.',
              },
            },
          }),
        ],
      },
      AT_NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'An answer in Responses ends for a reason that is new',
    source: 'openai 7.55.0, Response.IncompleteDetails',
    api,
    replies: [
      {
        steps: [
          responseEvent('response.output_text.delta', { output_index: 0, delta: 'At nine' }),
          responseEvent('response.incomplete', {
            response: { status: 'incomplete', incomplete_details: { reason: 'max_messages' } },
          }),
        ],
      },
    ],
    expected: { ...ONCE, reason: 'stop' },
  },
  {
    name: 'An answer in Responses ends with response.done',
    source: NONE,
    api,
    request: WITH_TOOLS,
    replies: [
      {
        steps: [
          responseEvent('response.output_item.done', {
            output_index: 0,
            item: {
              type: 'function_call',
              call_id: 'c',
              name: TOOL.name,
              arguments: '{"query":"a"}',
            },
          }),
          responseEvent('response.done', { response: { status: 'completed', output: [] } }),
        ],
      },
    ],
    expected: { calls: [[TOOL.name, '{"query":"a"}']], reason: 'tool_calls' },
  },
]
