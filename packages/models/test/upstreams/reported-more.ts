import {
  messageEnd,
  messageStart,
  messagesEvent,
  textBlock,
} from '../../../../test/support/messages-replies.ts'
import { responseReply } from '../../../../test/support/responses-replies.ts'
import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { answered, type Recorded, refused } from './recorded.ts'

const TEXT = { text: 'At nine', reason: 'stop' }
const NOT_FOUND = { code: 'upstream_model_not_found', message: /CHAT_MODEL/ }
const TOO_LONG = { code: 'context_length_exceeded', message: /shorten it/ }

export const RECORDED: readonly Recorded[] = [
  refused(
    ['A gateway says no more than the status of another', 'lobehub/lobehub#18885'],
    errorReply(400, {
      message: 'Upstream error: 400',
      type: 'invalid_request_error',
      param: '',
      code: null,
    }),
    { sampling: { presencePenalty: 0.2, temperature: 0.3 } },
    { presence_penalty: undefined },
  ),
  refused(
    ['Vertex says only that something is invalid', 'googleapis/python-aiplatform#3117'],
    errorReply(400, {
      code: 400,
      message: 'Request contains an invalid argument.',
      status: 'INVALID_ARGUMENT',
    }),
    { sampling: { seed: 7 } },
    { seed: undefined },
  ),
  refused(
    ['Codex gives a detail alone', 'lobehub/lobehub#17831'],
    jsonReply({ detail: 'Unsupported parameter: temperature' }, 400),
    { sampling: { temperature: 0.3 } },
    { temperature: undefined },
  ),
  {
    name: 'An address is that of Responses, and knows no messages',
    source: 'egoist/chatwise-releases#1023',
    api: 'chat-completions',
    auto: true,
    replies: [
      errorReply(400, {
        message:
          "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. Try again with the new parameter.",
        code: 'unsupported_parameter',
      }),
      responseReply({ texts: ['At nine'] }),
    ],
    expected: { text: 'At nine', requests: 2 },
  },
  {
    name: 'Azure’s DeepSeek gives nothing encrypted',
    source: 'earendil-works/pi#6228',
    api: 'responses',
    replies: [
      errorReply(400, {
        message: 'Encrypted content is not supported with this model.',
        param: 'include',
      }),
      responseReply({ texts: ['At nine'] }),
    ],
    expected: { text: 'At nine', requests: 2, sent: { include: undefined } },
  },
  answered(
    ['A gateway finds no model, and forbids it', 'gpustack/gpustack#5036'],
    errorReply(403, { message: 'Model not found', code: 403, type: 'Forbidden' }),
    NOT_FOUND,
  ),
  answered(
    ['A model does not exist, with status 400', 'acheong08/ChatGPT#625'],
    errorReply(400, 'That model does not exist'),
    NOT_FOUND,
  ),
  answered(
    ['vLLM has two limits of a prompt', 'vllm-project/vllm#525'],
    errorReply(400, 'Input prompt (2664 tokens) is too long and exceeds limit of 2048/2560'),
    TOO_LONG,
  ),
  answered(
    ['Ollama gives no finish reason to a whole answer', 'docling-project/docling#1647'],
    jsonReply({
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'At nine' }, finish_reason: null },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 2 },
    }),
    TEXT,
  ),
  answered(
    ['The last chunk of DeepSeek has no delta', 'osaurus-ai/osaurus#2150'],
    streamReply(
      chunk({ content: 'At nine' }),
      event({ choices: [{ index: 0, finish_reason: 'stop' }] }),
      DONE,
    ),
    TEXT,
  ),
  answered(
    ['The content is null as long as the model thinks', 'can1357/oh-my-pi#2996'],
    streamReply(
      chunk({ content: null, reasoning_content: 'Hm.' }),
      chunk({ content: 'At nine', reasoning_content: null }),
      chunk({}, 'stop'),
      DONE,
    ),
    { ...TEXT, reasoning: 'Hm.' },
  ),
  answered(
    ['vLLM ends to think in the chunk that begins the answer', 'vllm-project/vllm#43933'],
    streamReply(
      chunk({ reasoning_content: 'Hm' }),
      chunk({ reasoning_content: '.', content: 'At ' }),
      chunk({ content: 'nine' }),
      chunk({}, 'stop'),
      DONE,
    ),
    { ...TEXT, reasoning: 'Hm.' },
  ),
  {
    name: 'MiniMax tells no usage at the end',
    source: 'earendil-works/pi#6567',
    api: 'messages',
    replies: [
      streamReply(
        messageStart(),
        ...textBlock(0, 'At nine'),
        messagesEvent('message_delta', { delta: { stop_reason: 'end_turn' } }),
        messagesEvent('message_stop'),
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A router begins with the end, where it makes up for a stream',
    source: 'BerriAI/litellm#38153',
    api: 'messages',
    replies: [
      streamReply(
        messagesEvent('message_start', {
          message: {
            content: [],
            stop_reason: 'end_turn',
            usage: { input_tokens: 9, output_tokens: 2 },
          },
        }),
        ...textBlock(0, 'At nine'),
        ...messageEnd('end_turn'),
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
]
