import { expect } from 'vitest'
import { chunk, DONE, jsonReply, streamReply } from '../../../../test/support/upstream-replies.ts'
import { AFTER_CALL, ANSWER, ANSWERED, inCompletions } from './recorded.ts'

const error = (status: number, message: unknown, more: object = {}) =>
  jsonReply(
    { object: 'error', message, type: 'invalid_request_error', param: null, code: null, ...more },
    status,
  )
const extra = (...path: string[]) => ({
  detail: [
    { type: 'extra_forbidden', loc: ['body', ...path], msg: 'Extra inputs are not permitted' },
  ],
})

export const RECORDED = inCompletions([
  {
    name: 'Mistral quotes what its validator says',
    source: 'mistralai/platform-docs-public#7',
    request: { sampling: { frequencyPenalty: 0.1 } },
    replies: [error(422, JSON.stringify(extra('frequency_penalty'))), ANSWER],
    expected: { ...ANSWERED, sent: { frequency_penalty: undefined } },
  },
  {
    name: 'Mistral refuses stream_options in a message that is no text',
    source: 'avante-corp/avante.nvim#2347',
    replies: [error(422, extra('stream_options', 'include_usage')), ANSWER],
    expected: { ...ANSWERED, sent: { stream_options: undefined } },
  },
  {
    name: 'Mistral takes no identifiers of calls but its own',
    source: 'nearai/ironclaw#1241',
    request: AFTER_CALL,
    replies: [
      error(400, 'Tool call id was call_7f3a but must be a-z, A-Z, 0-9, with a length of 9.', {
        type: 'invalid_function_call',
        code: '3280',
        raw_status_code: 400,
      }),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: {
        'messages.1.tool_calls.0.id': expect.stringMatching(/^[a-zA-Z0-9]{9}$/),
        'messages.2.tool_call_id': expect.stringMatching(/^[a-zA-Z0-9]{9}$/),
      },
    },
  },
  {
    name: 'Mistral takes no user right after the result of a tool',
    source: 'BerriAI/litellm#6323',
    request: {
      ...AFTER_CALL,
      messages: [...(AFTER_CALL.messages ?? []), { role: 'user', content: 'Answer now.' }],
    },
    replies: [error(400, "Unexpected role 'user' after role 'tool'"), ANSWER],
    expected: {
      ...ANSWERED,
      sent: {
        'messages.2.role': 'tool',
        'messages.3.role': 'assistant',
        'messages.4': { role: 'user', content: 'Answer now.' },
      },
    },
  },
  {
    name: 'Mistral thinks in parts of the content',
    source: 'agentjido/req_llm#742',
    replies: [
      streamReply(
        chunk({
          content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me see. ' }] }],
        }),
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Nine.' }] }] }),
        chunk({ content: [{ type: 'text', text: 'At nine' }] }),
        chunk({ content: '' }, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Let me see. Nine.', reason: 'stop' },
  },
  {
    name: 'Mistral thinks in parts that are text themselves',
    source: 'vercel/ai#17779',
    replies: [
      streamReply(
        chunk({ content: [{ type: 'thinking', thinking: 'Nine.' }] }),
        chunk({ content: [{ type: 'reference', reference_ids: [1] }] }),
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Nine.', reason: 'stop' },
  },
  {
    name: 'Mistral has no room for the model',
    source: 'continuedev/continue#6185',
    replies: [
      {
        ...error(429, 'Service tier capacity exceeded for this model.'),
        headers: { 'content-type': 'application/json', 'retry-after-ms': '1' },
      },
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'Mistral limits the rate with a code of its own',
    source: 'raycast/extensions#31107',
    replies: [
      {
        ...error(429, 'Rate limit exceeded', { type: 'rate_limited', code: '1300' }),
        headers: { 'content-type': 'application/json', 'retry-after': '30' },
      },
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 30 seconds/, retryAfter: 30 },
  },
])
