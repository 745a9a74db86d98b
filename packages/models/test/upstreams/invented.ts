import { expect } from 'vitest'
import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { ANSWER, ANSWERED, inCompletions, WITH_IMAGE, WITH_TOOLS } from './recorded.ts'

const NONE = 'invented: like others, but reported by nobody'
const call = (index: number, id: string, args: string) =>
  chunk({ tool_calls: [{ index, id, function: { name: TOOL.name, arguments: args } }] })

export const RECORDED = inCompletions([
  {
    name: 'Two calls have one identifier',
    source: NONE,
    request: WITH_TOOLS,
    replies: [
      streamReply(
        call(0, 'call_0', '{"query":"hours"}'),
        call(1, 'call_0', '{"query":"days"}'),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    ],
    expected: {
      calls: [
        [TOOL.name, '{"query":"hours"}'],
        [TOOL.name, '{"query":"days"}'],
      ],
    },
  },
  {
    name: 'The rest of a call comes after the finish reason',
    source: NONE,
    request: WITH_TOOLS,
    replies: [
      streamReply(
        call(0, 'call_0', '{"query"'),
        chunk({}, 'tool_calls'),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ':"hours"}' } }] }),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{"query":"hours"}']], reason: 'tool_calls' },
  },
  {
    name: 'The usage grows with each chunk',
    source: NONE,
    replies: [
      streamReply(
        chunk({ content: 'At ' }, null, { usage: { prompt_tokens: 9, completion_tokens: 1 } }),
        chunk({ content: 'nine' }, null, { usage: { prompt_tokens: 9, completion_tokens: 2 } }),
        chunk({}, 'stop', { usage: { prompt_tokens: 9, completion_tokens: 3 } }),
        DONE,
      ),
    ],
    expected: { text: 'At nine', usage: { promptTokens: 9, completionTokens: 3 } },
  },
  {
    name: 'A validator lists fields in a list of its own',
    source: NONE,
    request: { sampling: { topP: 0.9 } },
    replies: [jsonReply({ errors: [{ field: 'top_p', message: 'is not allowed' }] }, 422), ANSWER],
    expected: { ...ANSWERED, sent: { top_p: undefined } },
  },
  {
    name: 'A refusal names the field, but in Chinese',
    source: NONE,
    request: { sampling: { seed: 7 } },
    replies: [
      errorReply(400, { message: '参数 seed 不受支持', param: 'seed', code: 'invalid_parameter' }),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { seed: undefined } },
  },
  {
    name: 'A limit on the rate is told within the stream',
    source: NONE,
    replies: [
      streamReply(
        event({
          error: {
            message: 'Rate limit reached. Please try again in 30s.',
            code: 'rate_limit_exceeded',
          },
        }),
      ),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 30 seconds/, retryAfter: 30 },
  },
  {
    name: 'Names of tools may have no hyphens',
    source: NONE,
    request: { tools: [{ ...TOOL, name: 'search-documents' }] },
    replies: [
      errorReply(
        400,
        "Invalid function name 'search-documents': only letters, digits and underscores are allowed",
      ),
      streamReply(
        chunk({
          tool_calls: [
            { index: 0, id: 'c', function: { name: 'search_documents', arguments: '{}' } },
          ],
        }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    ],
    expected: {
      calls: [['search-documents', '{}']],
      requests: 2,
      sent: { 'tools.0.function.name': 'search_documents' },
    },
  },
  {
    name: 'Tools are disabled',
    source: NONE,
    request: WITH_TOOLS,
    replies: [errorReply(403, 'Tools are disabled for this deployment'), ANSWER],
    expected: { ...ANSWERED, sent: { tools: undefined } },
  },
  {
    name: 'An error tells in a field of its own when to retry',
    source: NONE,
    replies: [jsonReply({ error: 'rate limited', retry_after: 12 }, 429)],
    expected: { code: 'upstream_rate_limited', message: /try again in 12 seconds/, retryAfter: 12 },
  },
  {
    name: 'The thinking is a field of that name',
    source: NONE,
    replies: [
      streamReply(
        chunk({ role: 'assistant', content: '', thinking: 'Hm.' }),
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Hm.' },
  },
  {
    name: 'A framework calls a field an unrecognized property',
    source: NONE,
    replies: [
      jsonReply(
        {
          timestamp: '2026-03-01T10:00:00Z',
          status: 400,
          error: 'Bad Request',
          message: 'JSON parse error: Unrecognized property "stream_options"',
          path: '/v1/chat/completions',
        },
        400,
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { stream_options: undefined } },
  },
  {
    name: 'A call cannot be insisted on without guided decoding',
    source: NONE,
    request: { tools: [TOOL], toolChoice: 'required' },
    replies: [
      errorReply(400, "tool_choice='required' needs guided decoding, which is turned off"),
      streamReply(call(0, 'c', '{}'), chunk({}, 'tool_calls'), DONE),
    ],
    expected: { calls: [[TOOL.name, '{}']], requests: 2, sent: { tool_choice: undefined } },
  },
  {
    name: 'One field is refused after another',
    source: NONE,
    request: { sampling: { stop: ['END'], temperature: 0.2, seed: 7 } },
    replies: [
      errorReply(400, 'This model cannot handle stop sequences'),
      errorReply(400, 'temperature is fixed for this model'),
      errorReply(400, 'seed: no such option'),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      requests: 4,
      sent: { stop: undefined, temperature: undefined, seed: undefined },
    },
  },
  {
    name: 'An error comes as a line of plain text in the stream',
    source: NONE,
    replies: [streamReply({ send: 'data: Internal error: the worker died\n\n' })],
    expected: { code: 'upstream_failed', message: /worker died|ended early|cannot be read/ },
  },
  {
    name: 'The stream has texts where chat completions have deltas',
    source: NONE,
    replies: [
      streamReply(
        event({ choices: [{ index: 0, text: 'At ' }] }),
        event({ choices: [{ index: 0, text: 'nine', finish_reason: 'stop' }] }),
        DONE,
      ),
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'A limit tells in minutes how long to wait',
    source: NONE,
    replies: [errorReply(429, 'Too many requests. Please wait 2 minutes before trying again.')],
    expected: { code: 'upstream_rate_limited', message: /120 seconds|2 minutes/, retryAfter: 120 },
  },
  {
    name: 'A model is retired',
    source: NONE,
    replies: [errorReply(410, 'chat-large-1 was retired on May 1. Use chat-large-2 instead.')],
    expected: {
      code: 'upstream_model_not_found',
      message: /choose another.*CHAT_MODEL|CHAT_MODEL/,
    },
  },
  {
    name: 'A slot is too small for the prompt',
    source: NONE,
    replies: [errorReply(400, 'The prompt has 9123 tokens, but a slot holds only 8192.')],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'The content must be a string',
    source: NONE,
    request: WITH_IMAGE,
    replies: [errorReply(422, 'messages[0].content: expected a string, got an array'), ANSWER],
    expected: {
      ...ANSWERED,
      sent: { 'messages.0.content': expect.stringContaining('cannot see') },
    },
  },
  {
    name: 'Answers in JSON may have no schema',
    source: NONE,
    request: {
      sampling: { format: { type: 'json-schema', name: 'hours', schema: { type: 'object' } } },
    },
    replies: [
      errorReply(400, "Only the formats 'text' and 'json_object' are possible here", {}),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'response_format.type': 'json_object' } },
  },
])
