import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  streamReply,
} from '../../support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { ANSWER, ANSWERED, inCompletions, WITH_TOOLS } from './recorded.ts'

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
])
