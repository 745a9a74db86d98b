import { jsonReply } from '../../../../test/support/upstream-replies.ts'
import { ANSWER, ANSWERED, inCompletions } from './recorded.ts'

/** The message stands where others have an object. */
const refusal = (error: string, status = 400) =>
  jsonReply({ code: 'Client specified an invalid argument', error }, status)

export const RECORDED = inCompletions([
  {
    name: 'xAI refuses a field by its name in camel case',
    source: 'yym68686/uni-api#105',
    request: { sampling: { presencePenalty: 0.1 } },
    replies: [refusal('Argument not supported on this model: presencePenalty'), ANSWER],
    expected: { ...ANSWERED, sent: { presence_penalty: undefined } },
  },
  {
    name: 'xAI refuses two fields, one after the other',
    source: 'BerriAI/litellm#14056',
    request: { sampling: { presencePenalty: 0.1, frequencyPenalty: 0.1 } },
    replies: [
      refusal('Argument not supported on this model: frequencyPenalty'),
      refusal('Model grok-4.6 does not support parameter presencePenalty.'),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      requests: 3,
      sent: { presence_penalty: undefined, frequency_penalty: undefined },
    },
  },
  {
    name: 'xAI does not let everyone set the effort',
    source: 'chenyme/grok2api#814',
    request: { sampling: { effort: 'high' } },
    replies: [
      refusal('Model grok-4.20-0309-reasoning does not support parameter reasoningEffort.'),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { reasoning_effort: undefined } },
  },
  {
    name: 'xAI refuses stop sequences',
    source: 'huggingface/smolagents#1766',
    request: { sampling: { stop: ['END'] } },
    replies: [refusal('Argument not supported on this model: stop'), ANSWER],
    expected: { ...ANSWERED, sent: { stop: undefined } },
  },
  {
    name: 'xAI answers in no format',
    source: 'BerriAI/litellm#6610',
    request: { sampling: { format: { type: 'json' } } },
    replies: [
      refusal('The response_format parameter is unsupported at the moment. Leave it unset.'),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { response_format: undefined } },
  },
  {
    name: 'xAI refuses a key with status 400',
    source: 'continuedev/continue#10778',
    replies: [refusal('Incorrect API key provided: na***ys. You can obtain one at the console.')],
    expected: { code: 'upstream_unauthorized', message: /check CHAT_API_KEY/ },
  },
])
