import { expect } from 'vitest'
import { responseReply } from '../../../../test/support/responses-replies.ts'
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

/** A refusal with the field that it names. */
const refusal = (message: string, param: string, code = 'unsupported_value') =>
  errorReply(400, { message, type: 'invalid_request_error', param, code })

const WHOLE = jsonReply({
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'At nine' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 2 },
})
const TWICE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }

export const RECORDED = inCompletions([
  {
    name: 'OpenAI refuses a temperature',
    source: 'gabrii/Cursor-Azure-GPT-5#33',
    request: { sampling: { temperature: 0.2 } },
    replies: [
      refusal(
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        'temperature',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { temperature: undefined } },
  },
  {
    name: 'OpenAI refuses max_tokens',
    source: 'CherryHQ/cherry-studio#1403',
    request: { sampling: { maxTokens: 90 } },
    replies: [
      refusal(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
        'unsupported_parameter',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { max_tokens: undefined, max_completion_tokens: 90 } },
  },
  {
    name: 'OpenAI refuses stop sequences',
    source: 'FlowiseAI/Flowise#5046',
    request: { sampling: { stop: ['END'] } },
    replies: [
      refusal("Unsupported parameter: 'stop' is not supported with this model.", 'stop'),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { stop: undefined } },
  },
  {
    name: 'OpenAI refuses the role of instructions',
    source: 'animalnots/BetterChatGPT-PLUS#90',
    request: WITH_RULES,
    replies: [
      refusal(
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        'messages[0].role',
      ),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { messages: [{ role: 'user', content: 'Be short.\n\nWhen?' }] },
    },
  },
  {
    name: 'OpenAI streams only to verified organizations',
    source: 'continuedev/continue#8209',
    replies: [
      refusal(
        'Your organization must be verified to stream this model. Please go to the settings of your organization.',
        'stream',
      ),
      WHOLE,
    ],
    expected: {
      ...ANSWERED,
      usage: { promptTokens: 9, completionTokens: 2 },
      sent: { stream: false, stream_options: undefined },
    },
  },
  {
    name: 'OpenAI streams no answers of a model',
    source: 'GaiZhenbiao/ChuanhuChatGPT#1160',
    replies: [
      refusal(
        "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
        'stream',
      ),
      WHOLE,
    ],
    expected: { ...ANSWERED, sent: { stream: false, stream_options: undefined } },
  },
  {
    name: 'OpenAI refuses tools together with reasoning in chat completions',
    source: 'openai/openai-openapi#541',
    request: { ...WITH_TOOLS, sampling: { effort: 'medium' } },
    replies: [
      refusal(
        "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        'reasoning_effort',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { reasoning_effort: 'none', 'tools.0.type': 'function' } },
  },
  {
    name: 'OpenAI takes function tools with an effort in Responses alone, and any protocol may be used',
    source: 'openai/openai-openapi#541',
    auto: true,
    request: { ...WITH_TOOLS, sampling: { effort: 'medium' } },
    replies: [
      refusal(
        "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        'reasoning_effort',
      ),
      responseReply({ texts: ['At nine'] }),
    ],
    expected: {
      ...ANSWERED,
      sent: { 'reasoning.effort': 'medium', 'tools.0.name': TOOL.name, messages: undefined },
    },
  },
  {
    name: 'OpenAI does not know an effort',
    source: 'Kilo-Org/cloud#3807',
    request: { sampling: { effort: 'none' } },
    replies: [
      refusal(
        "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
        'reasoning_effort',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { reasoning_effort: undefined } },
  },
  {
    name: 'OpenAI takes no images',
    source: 'OpenRouterTeam/openrouter-examples#4',
    request: WITH_IMAGE,
    replies: [
      errorReply(400, 'Invalid content type. image_url is only supported by certain models.'),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { 'messages.0.content': expect.stringContaining('cannot see') },
    },
  },
  {
    name: 'OpenAI takes no more than 128 tools',
    source: 'vishalmysore/Tools4AI#16',
    request: { tools: Array.from({ length: 130 }, (_, at) => ({ ...TOOL, name: `tool_${at}` })) },
    replies: [
      refusal(
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 130 instead.",
        'tools',
        'array_above_max_length',
      ),
    ],
    expected: { code: 'upstream_refused', message: /maximum length 128.*Offer it fewer tools/ },
  },
  {
    name: 'OpenAI takes no long descriptions of tools',
    source: 'nanbingxyz/5ire#33',
    request: { tools: [{ ...TOOL, description: 'Searches. '.repeat(300) }] },
    replies: [
      refusal(
        "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 3000 instead.",
        'tools[0].function.description',
        'string_above_max_length',
      ),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { 'tools.0.function.description': expect.stringMatching(/^.{900,1024}$/s) },
    },
  },
  {
    name: 'OpenAI takes no such schema of a tool',
    source: 'spring-projects/spring-ai#2561',
    request: { tools: [DETAILED_TOOL] },
    replies: [
      refusal(
        "Invalid schema for function 'reserve_book': In context=('properties', 'tags'), array schema missing items.",
        'tools[0].function.parameters',
        'invalid_function_parameters',
      ),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { 'tools.0.function.parameters.properties.tags.items': expect.anything() },
    },
  },
  {
    name: 'OpenAI tells of a spent quota as a limit on the rate',
    source: 'Pythagora-io/gpt-pilot#340',
    replies: [
      errorReply(429, {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      }),
    ],
    expected: { code: 'upstream_refused', message: /CHAT_API_KEY has no credit/ },
  },
  {
    name: 'OpenAI tells of a spent quota in the type alone',
    source: 'ayaka14732/ChatGPTAPIFree#16',
    replies: [
      errorReply(429, {
        message: 'You exceeded your current quota.',
        type: 'insufficient_quota',
        param: null,
        code: null,
      }),
    ],
    expected: { code: 'upstream_refused', message: /CHAT_API_KEY has no credit/ },
  },
  {
    name: 'OpenAI has no room for the request in any minute',
    source: 'vanderschaarlab/climb#1',
    replies: [
      errorReply(429, {
        message:
          'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      }),
    ],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'OpenAI does not have the model',
    source: 'Routstr/routstr-core#554',
    replies: [
      errorReply(404, {
        message: 'The model `gpt-9` does not exist or you do not have access to it.',
        type: 'invalid_request_error',
        code: 'model_not_found',
      }),
    ],
    expected: { code: 'upstream_model_not_found', message: /check CHAT_MODEL/ },
  },
  {
    name: 'OpenAI reports the usage twice',
    source: 'maximhq/bifrost#191',
    replies: [
      streamReply(
        chunk({ content: 'At nine' }),
        event({ choices: [{ index: 0, delta: {}, finish_reason: 'length', usage: TWICE }] }),
        event({ choices: [], usage: TWICE }),
        DONE,
      ),
    ],
    expected: {
      text: 'At nine',
      reason: 'length',
      usage: { promptTokens: 9, completionTokens: 2 },
    },
  },
  {
    name: 'OpenAI refuses in a field of its own',
    source: 'jamesrochabrun/SwiftOpenAI#78',
    replies: [
      streamReply(
        chunk({ role: 'assistant', content: null, refusal: '' }),
        chunk({ refusal: 'I cannot help ' }),
        chunk({ refusal: 'with that.' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'I cannot help with that.', reason: 'stop' },
  },
])
