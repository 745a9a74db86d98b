import { errorReply } from '../../../../test/support/upstream-replies.ts'
import { AFTER_CALL, ANSWER, ANSWERED, inCompletions } from './recorded.ts'

const messages = (AFTER_CALL.messages ?? []).map((message) =>
  message.role === 'assistant'
    ? { ...message, reasoning: [{ form: 'content' as const, text: 'Hm.' }] }
    : message,
)

export const RECORDED = inCompletions([
  {
    name: 'Cerebras does not want the reasoning back',
    source: 'egoist/chatwise-releases#1442',
    request: { ...AFTER_CALL, messages },
    replies: [
      errorReply(400, {
        message:
          "messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported",
        type: 'invalid_request_error',
        param: 'validation_error',
        code: 'wrong_api_format',
      }),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.1.reasoning_content': undefined } },
  },
  {
    name: 'Cerebras limits the tokens of a minute',
    source: 'continuedev/continue#9800',
    replies: [
      errorReply(
        429,
        {
          message: 'Tokens per minute limit exceeded - too many tokens processed.',
          type: 'too_many_tokens_error',
          param: 'quota',
          code: 'token_quota_exceeded',
        },
        { 'retry-after': '45' },
      ),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 45 seconds/, retryAfter: 45 },
  },
])
