import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { ANSWER, ANSWERED, inCompletions } from './recorded.ts'

const extraForbidden = (...paths: string[][]) =>
  JSON.stringify({
    detail: paths.map((path) => ({
      type: 'extra_forbidden',
      loc: ['body', ...path],
      msg: 'Extra inputs are not permitted',
      input: true,
    })),
  })

export const RECORDED = inCompletions([
  {
    name: 'Azure begins with what its filters found in the prompt',
    source: 'AbanteAI/archive-old-cli-mentat#430',
    replies: [
      streamReply(
        event({
          id: '',
          object: '',
          model: '',
          choices: [],
          prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
        }),
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'Azure leaves out the delta where it tells of its filters',
    source: 'langchain-ai/langchain#18977',
    replies: [
      streamReply(
        chunk({ role: 'assistant' }),
        event({ id: '', object: '', choices: [{ index: 0, delta: null, finish_reason: null }] }),
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        event({ id: '', choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] }),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'Azure filters the prompt',
    source: 'compl-ai/compl-ai#20',
    replies: [
      errorReply(400, {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      }),
    ],
    expected: {
      code: 'upstream_refused',
      message: /content management policy.*modify your prompt/,
    },
  },
  {
    name: 'Azure tells of its filters where the delta should be, even after the end',
    source: 'run-llama/LlamaIndexTS#2118',
    replies: [
      streamReply(
        chunk({ content: 'At nine' }),
        event({ choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] }),
        chunk({}, 'stop'),
        event({ choices: [{ index: 0, finish_reason: null, content_filter_results: {} }] }),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'Azure does not have the deployment',
    source: 'chatboxai/chatbox#646',
    replies: [
      errorReply(404, {
        code: 'DeploymentNotFound',
        message:
          'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
      }),
    ],
    expected: { code: 'upstream_model_not_found', message: /check CHAT_MODEL.*CHAT_BASE_URL/ },
  },
  {
    name: 'Azure does not know the path',
    source: 'microsoft/chat-copilot#995',
    replies: [errorReply(404, { code: '404', message: 'Resource not found' })],
    expected: { code: 'upstream_model_not_found', message: /CHAT_BASE_URL is the part/ },
  },
  {
    name: 'Azure tells in words when to retry',
    source: 'microsoft/sample-app-aoai-chatGPT#406',
    replies: [
      errorReply(429, {
        code: '429',
        message:
          'Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 9 seconds.',
      }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again/, retryAfter: 9 },
  },
  {
    name: 'Azure has no room for the request today',
    source: 'jasonacox/TinyLLM#17',
    replies: [
      errorReply(429, {
        code: '429',
        message:
          'Requests have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 86400 seconds.',
      }),
    ],
    expected: {
      code: 'upstream_rate_limited',
      message: /try again in 24 hours/,
      retryAfter: 86_400,
    },
  },
  {
    name: 'Azure does not know stream_options',
    source: 'langgenius/dify#4593',
    replies: [errorReply(400, "Unknown parameter: 'stream_options'."), ANSWER],
    expected: { ...ANSWERED, sent: { stream_options: undefined } },
  },
  {
    name: 'Azure quotes what a validator says as JSON within its message',
    source: 'BerriAI/litellm#11696',
    replies: [
      errorReply(422, {
        code: 'Invalid input',
        message: extraForbidden(['stream_options', 'include_usage']),
        status: 422,
      }),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { stream_options: undefined } },
  },
  {
    name: 'Azure refuses two fields at once',
    source: 'BerriAI/litellm#4800',
    request: { sampling: { frequencyPenalty: 0.1, presencePenalty: 0.2 } },
    replies: [
      jsonReply(JSON.parse(extraForbidden(['frequency_penalty'], ['presence_penalty'])), 422),
      jsonReply(JSON.parse(extraForbidden(['frequency_penalty'])), 422),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      requests: 3,
      sent: { frequency_penalty: undefined, presence_penalty: undefined },
    },
  },
  {
    name: 'Azure is under peak load',
    source: 'pollinations/pollinations#6260',
    replies: [
      errorReply(429, {
        code: 'RATE_LIMITED',
        message:
          'The system is currently experiencing high demand and cannot process your request. Please retry after 20 seconds.',
      }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 20 seconds/, retryAfter: 20 },
  },
])
