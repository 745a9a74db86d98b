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
import {
  ANSWER,
  ANSWERED,
  DETAILED_TOOL,
  inCompletions,
  WITH_IMAGE,
  WITH_RULES,
  WITH_TOOLS,
} from './recorded.ts'

const NONE = 'invented: like others, but reported by nobody'
const call = (index: number, id: string, args: string) =>
  chunk({ tool_calls: [{ index, id, function: { name: TOOL.name, arguments: args } }] })

export const RECORDED = inCompletions([
  {
    name: 'An error in the stream has no field of that name',
    source: NONE,
    replies: [
      streamReply(
        chunk({ content: 'At ' }),
        event({ status: 'error', msg: 'The GPU node was lost', data: null }),
      ),
    ],
    expected: { code: 'upstream_failed', message: /failed \(500\): try again/ },
  },
  {
    name: 'An answer with status 200 has an error code alone',
    source: NONE,
    replies: [jsonReply({ code: 1301, message: 'The queue is full', data: null })],
    expected: { code: 'upstream_failed', message: /failed \(500\): try again/, requests: 3 },
  },
  {
    name: 'The arguments of a call are JSON within JSON',
    source: NONE,
    request: WITH_TOOLS,
    replies: [
      streamReply(
        call(0, 'c', JSON.stringify(JSON.stringify({ query: 'hours' }))),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{"query":"hours"}']] },
  },
  {
    name: 'A gateway tells in its own header when its limit is reset',
    source: NONE,
    replies: [
      errorReply(429, 'Slow down', { 'ratelimit-remaining': '0', 'ratelimit-reset': '40' }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 40 seconds/, retryAfter: 40 },
  },
  {
    name: 'The first message must come from the user',
    source: NONE,
    request: WITH_RULES,
    replies: [errorReply(400, 'The first message must come from the user'), ANSWER],
    expected: { ...ANSWERED, sent: { 'messages.0.role': 'user' } },
  },
  {
    name: 'A model always thinks',
    source: NONE,
    request: { sampling: { effort: 'none' } },
    replies: [
      errorReply(400, 'This model always thinks: reasoning_effort=none is not an option'),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { reasoning_effort: undefined } },
  },
  {
    name: 'Vision is turned off',
    source: NONE,
    request: WITH_IMAGE,
    replies: [errorReply(400, 'Cannot process attachments: vision is off'), ANSWER],
    expected: {
      ...ANSWERED,
      sent: { 'messages.0.content': expect.stringContaining('cannot see') },
    },
  },
  {
    name: 'A model has been sunset',
    source: NONE,
    replies: [errorReply(400, 'The model chat-large-1 has been sunset. Migrate to chat-large-2.')],
    expected: { code: 'upstream_model_not_found', message: /CHAT_MODEL/ },
  },
  {
    name: 'A conversation is over the window',
    source: NONE,
    replies: [errorReply(400, 'This conversation does not fit into the 32k window of the model.')],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'A keyword of a tool cannot be compiled',
    source: NONE,
    request: { tools: [DETAILED_TOOL] },
    replies: [
      errorReply(
        400,
        "The parameters of reserve_book use the keyword '$ref', which cannot be compiled",
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'tools.0.function.parameters.$defs': undefined } },
  },
  {
    name: 'An image has a format that is not supported',
    source: NONE,
    request: WITH_IMAGE,
    replies: [errorReply(400, 'Unsupported image format: tiff')],
    expected: { code: 'upstream_refused', message: /: Unsupported image format: tiff/ },
  },
  {
    name: 'A penalty is beyond what a model takes',
    source: NONE,
    request: { sampling: { presencePenalty: 0.5 } },
    replies: [errorReply(422, 'presence_penalty goes beyond what this model can do'), ANSWER],
    expected: { ...ANSWERED, sent: { presence_penalty: undefined } },
  },
  {
    name: 'The stream begins with a byte order mark',
    source: NONE,
    replies: [
      streamReply({ send: '\uFEFF' }, chunk({ content: 'At nine' }), chunk({}, 'stop'), DONE),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'The calls are an object instead of a list',
    source: NONE,
    request: WITH_TOOLS,
    replies: [
      streamReply(
        chunk({ tool_calls: { id: 'c', function: { name: TOOL.name, arguments: '{}' } } }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{}']] },
  },
  {
    name: 'The content is a part instead of a list of parts',
    source: NONE,
    replies: [
      streamReply(chunk({ content: { type: 'text', text: 'At nine' } }), chunk({}, 'stop'), DONE),
    ],
    expected: { text: 'At nine' },
  },
  {
    name: 'The finish reason is empty until it is known',
    source: NONE,
    replies: [
      streamReply(
        chunk({ content: 'At ' }, ''),
        chunk({ content: 'nine' }, ''),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'An error tells in milliseconds when to retry',
    source: NONE,
    replies: [errorReply(429, { message: 'Busy', retry_after_ms: 9000 })],
    expected: { code: 'upstream_rate_limited', message: /try again in 9 seconds/, retryAfter: 9 },
  },
  {
    name: 'A refusal names the field in a French sentence',
    source: NONE,
    request: { sampling: { topP: 0.9 } },
    replies: [errorReply(400, "Le paramètre « top_p » n'est pas pris en charge"), ANSWER],
    expected: { ...ANSWERED, sent: { top_p: undefined } },
  },
  {
    name: 'A template has no place for tools',
    source: NONE,
    request: WITH_TOOLS,
    replies: [errorReply(400, 'The chat template has no place for tools'), ANSWER],
    expected: { ...ANSWERED, sent: { tools: undefined } },
  },
  {
    name: 'There is a second message of the system',
    source: NONE,
    request: {
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'When?' },
        { role: 'system', content: 'Be kind.' },
      ],
    },
    replies: [errorReply(400, 'Multiple system messages found, at most one is allowed'), ANSWER],
    expected: { ...ANSWERED, sent: { 'messages.1': undefined } },
  },
])
