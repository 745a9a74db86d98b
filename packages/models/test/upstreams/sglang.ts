import { event, jsonReply, streamReply } from '../../../../test/support/upstream-replies.ts'
import { ANSWER, ANSWERED, inCompletions } from './recorded.ts'

export const RECORDED = inCompletions([
  {
    name: 'SGLang refuses a long prompt with status 200',
    source: 'sgl-project/sglang#20027',
    replies: [
      streamReply(
        event({
          error: {
            object: 'error',
            message:
              "The input (9265 tokens) is longer than the model's context length (8000 tokens).",
            type: 'BadRequestError',
            param: null,
            code: 400,
          },
        }),
        { send: 'data: [DONE]\n\n' },
      ),
    ],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'SGLang lists what its validator says, with the whole input',
    source: 'sgl-project/sglang#12100',
    request: { sampling: { effort: 'minimal' } },
    replies: [
      jsonReply(
        {
          object: 'error',
          message:
            "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'minimal'}]",
          type: 'Bad Request',
          code: 400,
        },
        400,
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { reasoning_effort: undefined } },
  },
])
