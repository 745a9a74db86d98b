import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { inCompletions } from './recorded.ts'

export const RECORDED = inCompletions([
  {
    name: 'Together serves the model to those alone who run it',
    source: 'truefoundry/models#919',
    replies: [
      errorReply(400, {
        message:
          'Unable to access non-serverless model MiniMaxAI/MiniMax-M2.5. Please create and start a new dedicated endpoint for the model.',
        type: 'invalid_request_error',
        code: 'model_not_available',
      }),
    ],
    expected: { code: 'upstream_model_not_found', message: /CHAT_MODEL/ },
  },
  {
    name: 'Together has no room for prompt and answer',
    source: 'bytedance/UI-TARS-desktop#626',
    replies: [
      jsonReply(
        {
          error: {
            message:
              'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: 79993 `inputs` tokens and 1024 `max_new_tokens`',
            type: 'invalid_request_error',
          },
        },
        422,
      ),
    ],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'Together ends with a chunk without choices',
    source: 'mozilla-ai/any-llm#515',
    replies: [
      streamReply(
        chunk({ content: 'At nine' }, null, { usage: null }),
        chunk({ content: '' }, 'eos'),
        event({ id: 'x', object: 'chat.completion.chunk', choices: [], usage: null }),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
])
