import {
  chunk,
  DONE,
  errorReply,
  event,
  rawReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import type { ModelRequest } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import {
  AFTER_CALL,
  ANSWER,
  ANSWERED,
  DETAILED_TOOL,
  type Recorded,
  WITH_IMAGE,
  WITH_RULES,
  WITH_TOOLS,
} from './recorded.ts'

const completions = 'chat-completions' as const
const NONE = 'invented: like others, but reported by nobody'
const ONCE = { text: 'At nine' }
const LONG_ID: Partial<ModelRequest> = {
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'When?' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ callId: 'call_'.padEnd(50, 'x'), name: TOOL.name, arguments: '{}' }],
    },
    { role: 'tool', callId: 'call_'.padEnd(50, 'x'), content: 'At nine.' },
  ],
}
const ENDS_WITH_ANSWER: Partial<ModelRequest> = {
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: 'At' },
  ],
}
const TWO_USERS: Partial<ModelRequest> = {
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'user', content: 'When?' },
  ],
}
const BY_SCHEMA: Partial<ModelRequest> = {
  sampling: {
    format: {
      type: 'json-schema',
      name: 'a',
      schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    },
  },
}
/** A stream of chat completions. */
const streamed = (
  name: string,
  steps: Parameters<typeof streamReply>,
  expected: Recorded['expected'] = ONCE,
  request: Partial<ModelRequest> = {},
): Recorded => ({
  name,
  source: NONE,
  api: completions,
  request,
  replies: [streamReply(...steps)],
  expected,
})
/** A refusal in chat completions that is answered with another request. */
const refused = (
  name: string,
  message: string,
  request: Partial<ModelRequest> = {},
  status = 400,
): Recorded => ({
  name,
  source: NONE,
  api: completions,
  request,
  replies: [errorReply(status, { message }), ANSWER],
  expected: ANSWERED,
})
const CALLED = { calls: [[TOOL.name, '{"query":"hours"}']] as const, reason: 'tool_calls' }
export const RECORDED: readonly Recorded[] = [
  streamed('An empty finish reason stands in each chunk', [
    event({ choices: [{ index: 0, delta: { content: 'At nine' }, finish_reason: '' }] }),
    chunk({}, 'stop'),
    DONE,
  ]),
  streamed(
    'A call comes in the older function_call',
    [
      chunk({ function_call: { name: TOOL.name, arguments: '{"query":' } }),
      chunk({ function_call: { arguments: '"hours"}' } }),
      chunk({}, 'function_call'),
      DONE,
    ],
    CALLED,
    WITH_TOOLS,
  ),
  streamed(
    'Reasoning comes as reasoning',
    [chunk({ reasoning: 'Hm.' }), chunk({ content: 'At nine' }), chunk({}, 'stop'), DONE],
    { ...ONCE, reasoning: 'Hm.' },
  ),
  streamed(
    'Reasoning comes as reasoning_text',
    [chunk({ reasoning_text: 'Hm.' }), chunk({ content: 'At nine' }), chunk({}, 'stop'), DONE],
    { ...ONCE, reasoning: 'Hm.' },
  ),
  streamed(
    'Reasoning comes as parts of parts',
    [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      chunk({ content: 'At nine' }),
      chunk({}, 'stop'),
      DONE,
    ],
    { ...ONCE, reasoning: 'Hm.' },
  ),
  streamed(
    'The usage stands in a field of the provider',
    [
      chunk({ content: 'At nine' }),
      event({
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        x_groq: { usage: { prompt_tokens: 9, completion_tokens: 2 } },
      }),
      DONE,
    ],
    { ...ONCE, usage: { promptTokens: 9, completionTokens: 2 } },
  ),
  streamed(
    'An answer ends with the reason error',
    [
      chunk({ content: 'At' }),
      event({
        choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
        x_groq: { error: 'tokens' },
      }),
    ],
    { code: 'upstream_failed', message: /./ },
  ),
  {
    name: 'An answer has no bytes',
    source: NONE,
    api: completions,
    replies: [rawReply('')],
    expected: { code: 'upstream_failed', message: /./ },
  },
  streamed('The text stands beside the delta', [
    event({ choices: [{ index: 0, text: 'At nine', finish_reason: null }] }),
    event({ choices: [{ index: 0, text: '', finish_reason: 'stop' }] }),
    DONE,
  ]),
  streamed(
    'A model refuses in a field of its own',
    [chunk({ refusal: 'I cannot help.' }), chunk({}, 'stop'), DONE],
    { text: 'I cannot help.' },
  ),
  streamed(
    'An error in the stream is an object of that name',
    [chunk({ content: 'At' }), event({ object: 'error', message: 'Out of blocks', code: 500 })],
    { code: 'upstream_failed', message: /./ },
  ),
  streamed('A chunk has filters and no delta', [
    event({ choices: [], prompt_filter_results: [] }),
    event({
      choices: [
        { index: 0, finish_reason: null, content_filter_results: {}, content_filter_offsets: {} },
      ],
    }),
    chunk({ content: 'At nine' }),
    chunk({}, 'stop'),
    DONE,
  ]),
  streamed(
    'Arguments of a call are an object',
    [
      chunk({
        tool_calls: [
          { index: 0, id: 'c', function: { name: TOOL.name, arguments: { query: 'hours' } } },
        ],
      }),
      chunk({}, 'tool_calls'),
      DONE,
    ],
    CALLED,
    WITH_TOOLS,
  ),
  streamed(
    'A call has no index',
    [
      chunk({
        tool_calls: [{ id: 'c', function: { name: TOOL.name, arguments: '{"query":"hours"}' } }],
      }),
      chunk({}, 'tool_calls'),
      DONE,
    ],
    CALLED,
    WITH_TOOLS,
  ),
  streamed(
    'Arguments of a call are called parameters',
    [
      chunk({
        tool_calls: [
          { index: 0, id: 'c', function: { name: TOOL.name, parameters: { query: 'hours' } } },
        ],
      }),
      chunk({}, 'tool_calls'),
      DONE,
    ],
    CALLED,
    WITH_TOOLS,
  ),
  refused(
    'Vertex names the property whose schema lacks a type',
    'Unable to submit request because `reserve_book` functionDeclaration `parameters.kind` schema did not specify the schema type field.',
    { tools: [DETAILED_TOOL] },
  ),
  refused(
    'Gemini takes no tools next to JSON',
    "Function calling with a response mime type: 'application/json' is unsupported",
    { ...BY_SCHEMA, ...WITH_TOOLS },
  ),
  refused(
    'A server takes one penalty alone',
    'presence_penalty and frequency_penalty cannot both be set',
    { sampling: { presencePenalty: 0.2, frequencyPenalty: 0.1 } },
  ),
  refused(
    'A model takes no two messages of a user in a row',
    'deepseek-reasoner does not support successive user or assistant messages (messages[0] and messages[1] in your input). You should interleave the user/assistant messages in the message sequence.',
    TWO_USERS,
  ),
  refused(
    'DeepSeek continues an answer only with a mark',
    'The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on',
    ENDS_WITH_ANSWER,
  ),
  refused(
    'Perplexity wants users and assistants in turn',
    'After the (optional) system message(s), user and assistant roles should be alternating.',
    TWO_USERS,
  ),
  refused(
    'Perplexity wants a user at the end',
    'Last message must have role `user`.',
    ENDS_WITH_ANSWER,
  ),
  refused(
    'An effort must be one of others',
    "'reasoning_effort' : value must be one of [none, default]",
    { sampling: { effort: 'high' } },
  ),
  refused(
    'A model takes no tools in a stream',
    "This model doesn't support tool use in streaming mode.",
    WITH_TOOLS,
  ),
  refused(
    'LiteLLM wants tools where the conversation has calls',
    'litellm.UnsupportedParamsError: Bedrock doesn’t support tool calling without `tools=` param specified. Pass `tools=` param OR set `litellm.modify_params = True`',
    { ...AFTER_CALL, tools: [] },
  ),
  refused(
    'Bedrock wants tools where the conversation has calls',
    'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
    { ...AFTER_CALL, tools: [] },
  ),
  refused(
    'TGI has room for fewer tokens of an answer',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 2000 `inputs` tokens and 3000 `max_new_tokens`',
    { sampling: { maxTokens: 3000 } },
    422,
  ),
  refused(
    'LM Studio takes a schema or text',
    "'response_format.type' must be 'json_schema' or 'text'",
    { sampling: { format: { type: 'json' } } },
  ),
  refused(
    'OpenAI takes identifiers of forty characters',
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 50 instead.",
    LONG_ID,
  ),
  refused(
    'OpenRouter says how many tokens the credit is good for',
    'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 1200.',
    { sampling: { maxTokens: 32000 } },
    402,
  ),
  refused('A server permits no seed', 'seed is not a permitted argument', {
    sampling: { seed: 7 },
  }),
  refused(
    'A server wants stream_options removed',
    "Argument not supported: 'stream_options'. Please remove it.",
    {},
  ),
  refused(
    'A model takes no system messages',
    'System messages are not supported for this model',
    WITH_RULES,
  ),
  refused(
    'A template wants the system message at the beginning',
    "model_instance raise error: Value error, 'messages' with role 'system' must be at the beginning",
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'system', content: 'Be short' },
        { role: 'user', content: 'When?' },
      ],
    },
  ),
  refused(
    'No endpoint takes images',
    'No endpoints found that support image input',
    WITH_IMAGE,
    404,
  ),
  refused(
    'No endpoint takes tools',
    'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs',
    WITH_TOOLS,
    404,
  ),
  refused(
    'A server lets the model choose the tool',
    'tool_choice is only allowed when tools are specified / `tool_choice` must be `auto`',
    { ...WITH_TOOLS, toolChoice: 'required' },
  ),
  refused(
    'A thinking model takes no required call',
    "tool_choice 'required' is incompatible with thinking enabled",
    { ...WITH_TOOLS, toolChoice: 'required', sampling: { effort: 'high' } },
  ),
  refused(
    'A server cannot parse the call that the model wrote',
    'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error',
    WITH_TOOLS,
    500,
  ),
]
