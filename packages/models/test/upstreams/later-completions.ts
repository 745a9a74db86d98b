import { expect } from 'vitest'
import { errorReply, jsonReply } from '../../../../test/support/upstream-replies.ts'
import type { ModelRequest } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import {
  AFTER_CALL,
  ANSWER,
  ANSWERED,
  type Recorded,
  WITH_IMAGE,
  WITH_RULES,
  WITH_TOOLS,
} from './recorded.ts'

const NONE = 'invented: like others, but reported by nobody'
const refusal = (message: string, more: object = {}) =>
  errorReply(400, { message, type: 'invalid_request_error', ...more })
const call = { callId: 'call_1', name: TOOL.name, arguments: '{"query":"hours"}' }
const completions = 'chat-completions' as const
const ends = (content: string): Partial<ModelRequest> => ({
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content },
  ],
})
const withoutResult: Partial<ModelRequest> = {
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'user', content: 'Never mind. When?' },
  ],
}
const userAfterTool: Partial<ModelRequest> = {
  tools: [TOOL],
  messages: [...(AFTER_CALL.messages ?? []), { role: 'user', content: 'And on Sundays?' }],
}
const withEmpty: Partial<ModelRequest> = {
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '' },
    { role: 'user', content: 'When?' },
  ],
}

export const RECORDED: readonly Recorded[] = [
  {
    name: 'JSON must be mentioned in the messages',
    source: 'StefanBratanov/jvm-openai#15',
    api: completions,
    request: { sampling: { format: { type: 'json' } } },
    replies: [
      refusal(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        { param: 'messages' },
      ),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'A template knows no system role',
    source: NONE,
    api: completions,
    request: WITH_RULES,
    replies: [refusal('System role not supported'), ANSWER],
    expected: ANSWERED,
  },
  {
    name: 'Ollama names the model that takes no tools',
    source: NONE,
    api: completions,
    request: WITH_TOOLS,
    replies: [refusal('registry.ollama.ai/library/gemma:2b does not support tools'), ANSWER],
    expected: ANSWERED,
  },
  {
    name: 'Bedrock wants an inference profile',
    source: NONE,
    api: completions,
    replies: [
      errorReply(
        400,
        'ValidationException: Invocation of model ID anthropic.claude with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
      ),
    ],
    expected: { code: 'upstream_refused', message: /inference profile/ },
  },
  {
    name: 'Bedrock denies the access to a model',
    source: NONE,
    api: completions,
    replies: [
      errorReply(
        403,
        "AccessDeniedException: You don't have access to the model with the specified model ID.",
      ),
    ],
    expected: { code: 'upstream_unauthorized', message: /access/ },
  },
  {
    name: 'Gemini is not offered at a location',
    source: NONE,
    api: completions,
    replies: [
      jsonReply(
        [
          {
            error: {
              code: 400,
              message: 'User location is not supported for the API use.',
              status: 'FAILED_PRECONDITION',
            },
          },
        ],
        400,
      ),
    ],
    expected: { code: 'upstream_refused', message: /location/ },
  },
  {
    name: 'A token of Vertex has expired',
    source: NONE,
    api: completions,
    replies: [
      errorReply(401, {
        code: 401,
        message:
          'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
        status: 'UNAUTHENTICATED',
      }),
    ],
    expected: { code: 'upstream_unauthorized', message: /key/ },
  },
  {
    name: 'A server knows no role for the result of a tool',
    source: 'edison7009/EchoBird#125',
    api: completions,
    request: AFTER_CALL,
    replies: [
      errorReply(422, {
        message:
          'messages[2]: unknown variant `tool`, expected one of `system`, `user`, `assistant`',
      }),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'A server takes content as a string alone',
    source: NONE,
    api: completions,
    request: WITH_IMAGE,
    replies: [
      errorReply(422, {
        message: 'messages[0].content: invalid type: sequence, expected a string',
      }),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'A validator takes content as a string alone',
    source: NONE,
    api: completions,
    request: WITH_IMAGE,
    replies: [
      jsonReply(
        {
          detail: [
            {
              type: 'string_type',
              loc: ['body', 'messages', 0, 'content'],
              msg: 'Input should be a valid string',
              input: [],
            },
          ],
        },
        422,
      ),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'Mistral takes no text next to calls',
    source: 'langchain-ai/langchain#21196',
    api: completions,
    request: {
      tools: [TOOL],
      messages: [
        { role: 'user', content: 'When?' },
        { role: 'assistant', content: 'I look.', toolCalls: [call] },
        { role: 'tool', callId: 'call_1', content: 'At nine.' },
      ],
    },
    replies: [
      refusal('Assistant message must have either content or tool_calls, but not both.'),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'Mistral takes no user after a tool',
    source: 'nicholasgriffintn/ai-platform#414',
    api: completions,
    request: userAfterTool,
    replies: [refusal("Unexpected role 'user' after role 'tool'"), ANSWER],
    expected: ANSWERED,
  },
  {
    name: 'Mistral continues no answer',
    source: '0xPlaygrounds/rig#708',
    api: completions,
    request: ends('At'),
    replies: [
      refusal(
        'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
      ),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'An answer that says nothing is left out',
    source: 'n8n-io/n8n#14797',
    api: completions,
    request: withEmpty,
    replies: [ANSWER],
    expected: { text: 'At nine', sent: { 'messages.2': undefined } },
  },
  {
    name: 'xAI wants text next to calls',
    source: 'langchain-ai/langchain#34140',
    api: completions,
    request: AFTER_CALL,
    replies: [
      refusal('Invalid request content: Each message must have at least one content element.'),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'A call in chat completions has no result',
    source: 'QwenLM/qwen-code#315',
    api: completions,
    request: withoutResult,
    replies: [ANSWER],
    expected: { text: 'At nine', sent: { 'messages.2.role': 'tool' } },
  },
  {
    name: 'OpenAI says how many tokens an answer may have',
    source: 'enoch3712/ExtractThinker#346',
    api: completions,
    request: { sampling: { maxTokens: 100000 } },
    replies: [
      refusal(
        'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
        { param: 'max_tokens' },
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { max_tokens: 16_384 } },
  },
  {
    name: 'A server takes no top_p of one',
    source: NONE,
    api: completions,
    request: { sampling: { topP: 1 } },
    replies: [refusal('top_p must be in (0, 1), got 1'), ANSWER],
    expected: ANSWERED,
  },
  {
    name: 'The name of a tool has a dot',
    source: NONE,
    api: completions,
    request: { tools: [{ ...TOOL, name: 'mcp.search' }], toolChoice: 'auto' },
    replies: [ANSWER],
    expected: {
      text: 'At nine',
      sent: { 'tools.0.function.name': expect.stringMatching(/^[\w-]+$/) },
    },
  },
  {
    name: 'OpenAI takes no more tools',
    source: NONE,
    api: completions,
    request: WITH_TOOLS,
    replies: [
      refusal(
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.",
        { param: 'tools', code: 'array_above_max_length' },
      ),
    ],
    expected: { code: 'upstream_refused', message: /128/ },
  },
]
