import {
  answerReply,
  block,
  messageEnd,
  messageStart,
  messagesEvent,
  messagesReply,
  refusalReply,
  textBlock,
  thinkingBlock,
  toolBlock,
} from '../../../../test/support/messages-replies.ts'
import { errorReply, event, jsonReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import type { Recorded } from './recorded.ts'

const api = 'messages'
const AT_NINE = answerReply('At nine.')
const JSON_ANSWER = {
  format: {
    type: 'json-schema' as const,
    name: 'title',
    schema: { type: 'object', properties: { title: { type: 'string' } } },
  },
}
const afterCall = [
  { role: 'user' as const, content: 'When?' },
  {
    role: 'assistant' as const,
    content: '',
    toolCalls: [{ callId: 'a', name: TOOL.name, arguments: '{}' }],
  },
  { role: 'tool' as const, callId: 'a', content: 'Nine' },
]
const text = (words: string) =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } })

export const RECORDED: readonly Recorded[] = [
  {
    name: 'A proxy sends no names of events',
    source: 'earendil-works/pi#1983',
    api,
    replies: [
      {
        steps: [
          event({ type: 'message_start', message: { usage: { input_tokens: 4 } } }),
          event({ type: 'content_block_start', index: 0, content_block: { type: 'text' } }),
          text('At '),
          text('nine.'),
          event({ type: 'content_block_stop', index: 0 }),
          event({
            type: 'message_delta',
            delta: { stop_reason: 'end_turn' },
            usage: { output_tokens: 2 },
          }),
          event({ type: 'message_stop' }),
        ],
      },
    ],
    expected: { text: 'At nine.', usage: { promptTokens: 4, completionTokens: 2 } },
  },
  {
    name: 'A gateway sends deltas without the beginning of their block, and ends like OpenAI',
    source: 'earendil-works/pi#4381',
    api,
    replies: [
      {
        steps: [
          text('At nine.'),
          event({ type: 'message_delta', delta: { stop_reason: 'stop' } }),
          { send: 'data: [DONE]\n\n' },
        ],
      },
    ],
    expected: { text: 'At nine.', reason: 'stop' },
  },
  {
    name: 'LiteLLM wraps the refusal of Anthropic as text',
    source: 'anthropics/claude-code#11302',
    api,
    replies: [
      errorReply(400, {
        message:
          '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for claude-3-opus-20240229"}}. Received Model Group=claude-haiku-4-5-20251001',
        type: 'None',
        param: 'None',
        code: '400',
      }),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 4_096 } },
  },
  {
    name: 'LiteLLM streams a call of Ollama without its arguments',
    source: 'BerriAI/litellm#25605',
    api,
    request: { tools: [TOOL] },
    replies: [
      messagesReply(block(0, { type: 'tool_use', id: 'call_1', name: TOOL.name, input: {} }), {
        stopReason: 'tool_use',
      }),
    ],
    expected: { calls: [[TOOL.name, '{}']], reason: 'tool_calls' },
  },
  {
    name: 'LiteLLM mixes empty deltas of arguments into a text',
    source: 'BerriAI/litellm#29286',
    api,
    request: { tools: [TOOL] },
    replies: [
      messagesReply([
        messagesEvent('content_block_start', { index: 0, content_block: { type: 'text' } }),
        text('At '),
        messagesEvent('content_block_delta', {
          index: 0,
          delta: { type: 'input_json_delta', partial_json: '' },
        }),
        text('nine.'),
      ]),
    ],
    expected: { text: 'At nine.', calls: [], reason: 'stop' },
  },
  {
    name: 'LiteLLM tells the prompt at the end alone',
    source: 'continuedev/continue#4809',
    api,
    replies: [
      {
        steps: [
          messageStart({ input_tokens: 0, output_tokens: 0 }),
          ...textBlock(0, 'At nine.'),
          ...messageEnd('end_turn', { input_tokens: 40, output_tokens: 3 }),
        ],
      },
    ],
    expected: { text: 'At nine.', usage: { promptTokens: 40, completionTokens: 3 } },
  },
  {
    name: 'Kimi K2.7 takes thinking by budget alone',
    source: 'MoonshotAI/Kimi-K2#141',
    api,
    request: { sampling: { effort: 'low' } },
    replies: [
      errorReply(400, 'invalid thinking: only type=enabled is allowed for this model'),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { 'thinking.type': 'enabled' } },
  },
  {
    name: 'Kimi K2.7 cannot be told not to think',
    source: 'MoonshotAI/Kimi-K2#141, of another request',
    api,
    request: { sampling: { effort: 'none' } },
    replies: [
      errorReply(400, 'invalid thinking: only type=enabled is allowed for this model'),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { thinking: undefined } },
  },
  {
    name: 'GLM is overloaded, with a code before its words',
    source: 'repoprompt/repoprompt-ce#295',
    api,
    replies: [
      refusalReply(
        529,
        '[1305][The service may be temporarily overloaded, please try again later]',
        'overloaded_error',
        { 'retry-after': '0' },
      ),
    ],
    expected: { code: 'upstream_failed', message: /overloaded or not ready/, requests: 3 },
  },
  {
    name: 'GLM withholds an answer in a word of its own',
    source: 'docs.z.ai/api-reference, finish reasons',
    api,
    replies: [messagesReply([], { stopReason: 'sensitive' })],
    expected: { text: '', reason: 'content_filter' },
  },
  {
    name: 'MiniMax knows no schema of an answer, and says only that something is invalid',
    source: 'MiniMax-AI/MiniMax-M2.7#17',
    api,
    request: { sampling: JSON_ANSWER },
    replies: [refusalReply(400, 'invalid params'), answerReply('{"title":"Hours"}')],
    expected: { text: '{"title":"Hours"}', requests: 2, sent: { output_config: undefined } },
  },
  {
    name: 'MiniMax refuses the role system among the messages',
    source: 'MiniMax-AI/MiniMax-M2.7#43',
    api,
    request: {
      messages: [
        { role: 'user', content: 'When?' },
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Now?' },
      ],
    },
    replies: [AT_NINE],
    expected: {
      text: 'At nine.',
      sent: { 'messages.0.content.1.text': 'Be brief.', 'messages.1': undefined },
    },
  },
  {
    name: 'MiniMax keeps the stream open after its end',
    source: 'MiniMax-AI/MiniMax-M2#109',
    api,
    replies: [
      { steps: [messageStart(), ...textBlock(0, 'At nine.'), ...messageEnd(), { hang: true }] },
    ],
    expected: { text: 'At nine.', reason: 'stop' },
  },
  {
    name: 'DeepSeek thinks by default, and wants its thinking back with each call',
    source: 'OEvortex/aether#31',
    api,
    request: { tools: [TOOL], messages: afterCall },
    replies: [
      errorReply(400, {
        message: 'The `content[].thinking` in the thinking mode must be passed back to the API.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request_error',
      }),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { 'thinking.type': 'disabled' } },
  },
  {
    name: 'DeepSeek V3.2 misses a thinking block by its place',
    source: 'VicBilibily/GCMP#26',
    api,
    request: { tools: [TOOL], messages: afterCall },
    replies: [
      errorReply(400, 'Missing thinking block in the assistant message at message index 1.'),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { 'thinking.type': 'disabled' } },
  },
  {
    name: 'DeepSeek cannot be made to call while it thinks',
    source: 'maximhq/bifrost#5177',
    api,
    request: { tools: [TOOL], toolChoice: { name: TOOL.name } },
    replies: [
      errorReply(400, 'Thinking mode does not support this tool_choice'),
      messagesReply(toolBlock(0, 'call_1', TOOL.name, {}), { stopReason: 'tool_use' }),
    ],
    expected: { calls: [[TOOL.name, '{}']], requests: 2, sent: { 'thinking.type': 'disabled' } },
  },
  {
    name: 'DeepSeek’s Messages have no balance left',
    source: 'api-docs.deepseek.com/quick_start/error_codes',
    api,
    replies: [errorReply(402, 'Insufficient Balance')],
    expected: { code: 'upstream_refused', message: /no credit or quota left/ },
  },
  {
    name: 'SGLang wants a signature with each thinking block, if an empty one',
    source: 'QwenLM/qwen-code#11772',
    api,
    request: {
      tools: [TOOL],
      messages: afterCall.map((each) =>
        each.role === 'assistant'
          ? { ...each, reasoning: [{ form: 'block' as const, text: 'Hm.', signature: '' }] }
          : each,
      ),
    },
    replies: [AT_NINE],
    expected: { text: 'At nine.', sent: { 'messages.1.content.0.signature': '' } },
  },
  {
    name: 'vLLM has less room than is asked for',
    source: 'claude-code-best/claude-code#340',
    api,
    replies: [
      errorReply(400, {
        message:
          "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 20000 tokens and your request has 16614 input tokens (32000 > 20000 - 16614).",
        type: 'BadRequestError',
      }),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 3_386 } },
  },
  {
    name: 'vLLM has less room than is asked for, in older words',
    source: 'vllm-project/vllm#20409',
    api,
    replies: [
      errorReply(400, {
        message:
          "This model's maximum context length is 16384 tokens. However, you requested 42946 tokens (10946 in the messages, 32000 in the completion). Please reduce the length of the messages or completion. Lower max_tokens.",
        type: 'BadRequestError',
      }),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 5_438 } },
  },
  {
    name: 'vLLM does not know the model',
    source: 'ray-project/ray#65486',
    api,
    replies: [refusalReply(404, 'The model `test-model` does not exist.', 'NotFoundError')],
    expected: { code: 'upstream_model_not_found', message: /check CHAT_MODEL/ },
  },
  {
    name: 'Doubao names the highest value of a field',
    source: 'yiliqi78/TOKENICODE#3',
    api,
    request: { sampling: { maxTokens: 64_000 } },
    replies: [
      errorReply(400, {
        code: 'InvalidParameter',
        message:
          'The parameter max_tokens specified in the request is not valid: integer above maximum value, expected a value <= 32768, but got 64000 instead. Request id: 0217724325966514087c9e55',
        param: 'max_tokens',
        type: 'BadRequest',
      }),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 32_768 } },
  },
  {
    name: 'llama.cpp leaves the reasoning in the text',
    source: 'ggml-org/llama.cpp#18542',
    api,
    replies: [answerReply('<think>\nHm.\n</think>\n\nAt nine.')],
    expected: { text: 'At nine.' },
  },
  {
    name: 'Ollama answers whole, with thinking and a call at once',
    source: 'ollama/ollama#13600',
    api,
    request: { tools: [TOOL] },
    replies: [
      jsonReply({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'tool_use', id: 'call_1', name: TOOL.name, input: { query: 'hours' } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 30, output_tokens: 12 },
      }),
    ],
    expected: {
      calls: [[TOOL.name, '{"query":"hours"}']],
      reason: 'tool_calls',
      usage: { promptTokens: 30, completionTokens: 12 },
    },
  },
  {
    name: 'mlx-serve finds the prompt too long, without numbers',
    source: 'ddalcu/mlx-serve#66',
    api,
    replies: [refusalReply(400, 'Prompt exceeds maximum context length')],
    expected: { code: 'context_length_exceeded', message: /longer than the chat model can read/ },
  },
  {
    name: 'MiniMax finds no page where a part of its address is missing',
    source: 'proma-ai/Proma#398',
    api,
    replies: [{ status: 404, steps: [{ send: '404 page not found' }] }],
    expected: { code: 'upstream_model_not_found', message: /before \/messages/ },
  },
  {
    name: 'A model of a gateway thinks without a signature',
    source: 'JohnnyZ93/oai-compatible-copilot#217',
    api,
    request: { tools: [TOOL] },
    replies: [
      messagesReply([...thinkingBlock(0, 'Hm.', ''), ...toolBlock(1, 'a', TOOL.name, {})], {
        stopReason: 'tool_use',
      }),
    ],
    expected: { calls: [[TOOL.name, '{}']], reason: 'tool_calls' },
  },
]
