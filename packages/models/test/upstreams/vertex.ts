import { answerReply, refusalReply } from '../../../../test/support/messages-replies.ts'
import { jsonReply } from '../../../../test/support/upstream-replies.ts'
import type { Recorded } from './recorded.ts'

const api = 'messages'
const AT_NINE = answerReply('At nine.')

export const RECORDED: readonly Recorded[] = [
  {
    name: 'Vertex does not know output_config, where it asks for JSON',
    source: 'BerriAI/litellm#21407',
    api,
    request: {
      sampling: {
        format: {
          type: 'json-schema',
          name: 'hours',
          schema: { type: 'object', properties: { opens: { type: 'integer' } } },
        },
      },
    },
    replies: [
      refusalReply(400, 'output_config: Extra inputs are not permitted'),
      answerReply('{"opens":9}'),
    ],
    expected: { text: '{"opens":9}', requests: 2, sent: { output_config: undefined } },
  },
  {
    name: 'Vertex does not know output_config, where it tells the effort',
    source: 'BerriAI/litellm#18241',
    api,
    request: { sampling: { effort: 'high' } },
    replies: [refusalReply(400, 'output_config: Extra inputs are not permitted'), AT_NINE],
    expected: { text: 'At nine.', requests: 2, sent: { output_config: undefined } },
  },
  {
    name: 'Vertex has a quota of nothing',
    source: 'anthropics/claude-code#1440',
    api,
    replies: [
      jsonReply(
        {
          error: {
            code: 429,
            message:
              'Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model with base model: anthropic-claude-opus-4. Please submit a quota increase request.',
            status: 'RESOURCE_EXHAUSTED',
          },
        },
        429,
        { 'retry-after': '60' },
      ),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in / },
  },
  {
    name: 'Vertex answers errors as a list of one',
    source: 'cline/cline#651',
    api,
    replies: [
      jsonReply(
        [{ error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }],
        429,
        { 'retry-after': '0' },
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2 },
  },
  {
    name: 'Vertex wants the model to be enabled for the project',
    source: 'yym68686/uni-api#41',
    api,
    replies: [
      jsonReply(
        [
          {
            error: {
              code: 400,
              message:
                'Project `123` is not allowed to use Publisher Model `projects/x/locations/y/publishers/anthropic/models/claude-3-sonnet@20240229`',
              status: 'FAILED_PRECONDITION',
            },
          },
        ],
        400,
      ),
    ],
    expected: { code: 'upstream_refused', message: /not allowed to use Publisher Model/ },
  },
  {
    name: 'Vertex takes no marks for the cache on a block',
    source: 'cg-dot/vertexai-cf-workers#21',
    api,
    replies: [
      refusalReply(400, 'messages.0.content.0.cache_control: Extra inputs are not permitted'),
      AT_NINE,
    ],
    expected: {
      text: 'At nine.',
      requests: 2,
      sent: { 'messages.0.content': 'When does the library open?' },
    },
  },
]
