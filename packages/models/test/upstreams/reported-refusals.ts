import { expect } from 'vitest'
import { answerReply } from '../../../../test/support/messages-replies.ts'
import { responseReply } from '../../../../test/support/responses-replies.ts'
import { errorReply, jsonReply } from '../../../../test/support/upstream-replies.ts'
import type { ModelRequest } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { DETAILED_TOOL, type Recorded, refused, WITH_IMAGE, WITH_TOOLS } from './recorded.ts'

const EFFORT: Partial<ModelRequest> = { sampling: { effort: 'high' } }
const NO_EFFORT: Partial<ModelRequest> = { sampling: { effort: 'none' } }
const MANY_TOKENS: Partial<ModelRequest> = { sampling: { maxTokens: 200_000 } }
const PENALTIES: Partial<ModelRequest> = {
  sampling: { presencePenalty: 0.2, frequencyPenalty: 0.1 },
}
const TOKEN_LIMIT = (maxTokens: number): Partial<ModelRequest> => ({ sampling: { maxTokens } })
const FROM_XAI = (error: string) =>
  jsonReply({ code: 'Client specified an invalid argument', error }, 400)
const STRICT_SCHEMA: Partial<ModelRequest> = {
  sampling: {
    format: {
      type: 'json-schema',
      name: 'hours',
      strict: true,
      schema: { type: 'object', properties: { opens: { type: 'string' } }, required: ['opens'] },
    },
  },
}
const NO_IMAGE = { 'messages.0.content': expect.stringContaining('cannot see') }

export const RECORDED: readonly Recorded[] = [
  refused(
    ['xAI names a penalty in camel case', 'miaoxworld/NativeTavern#83'],
    FROM_XAI('Model grok-4.6 does not support parameter presencePenalty.'),
    PENALTIES,
    { presence_penalty: undefined },
  ),
  {
    name: 'xAI names the effort as one word, but in Responses',
    source: 'NousResearch/hermes-agent#23088',
    api: 'responses',
    request: EFFORT,
    replies: [
      FROM_XAI('Model grok-4-1-fast does not support parameter reasoningEffort.'),
      responseReply({ texts: ['At nine'] }),
    ],
    expected: { text: 'At nine', requests: 2, sent: { 'reasoning.effort': undefined } },
  },
  refused(
    ['Gemini calls both penalties by one name', 'PublicAffairs/openai-gemini#63'],
    errorReply(400, 'Penalty is not enabled for models/gemini-2.5-flash'),
    { sampling: { frequencyPenalty: 0.1 } },
    { frequency_penalty: undefined },
  ),
  refused(
    ['Qwen always thinks', 'lobehub/lobehub#8613'],
    errorReply(
      400,
      'Provider API error: <400> InternalError.Algo.InvalidParameter: The value of the enable_thinking parameter is restricted to True.',
    ),
    NO_EFFORT,
    { reasoning_effort: undefined },
  ),
  refused(
    ['SiliconFlow takes no thinking, with a number of its own', 'EatWorld/UmiOCR-AI-OCR-Plugin#39'],
    jsonReply(
      {
        code: 20015,
        message: 'Value error, current model does not support parameter `enable_thinking`.',
        data: null,
      },
      400,
    ),
    EFFORT,
    { reasoning_effort: undefined },
  ),
  refused(
    ['Kimi has one value of top_p', 'iOfficeAI/gemini-cli-pro#30'],
    errorReply(400, 'invalid top_p: only 0.95 is allowed for this model'),
    { sampling: { topP: 0.8 } },
    { top_p: undefined },
  ),
  refused(
    ['Bedrock has no call of any tool', 'strands-agents/harness-sdk#1241'],
    errorReply(
      400,
      "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again.",
    ),
    { ...WITH_TOOLS, toolChoice: 'required' },
    { tool_choice: undefined, 'tools.0.function.name': TOOL.name },
  ),
  refused(
    ['Bedrock names the schema of a tool in its own way', 'alibaba/spring-ai-alibaba#3082'],
    errorReply(
      400,
      'The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.',
    ),
    { tools: [DETAILED_TOOL] },
    { 'tools.0.function.parameters.$defs': undefined },
  ),
  refused(
    ['Vertex finds nothing where there are only instructions', 'BerriAI/litellm#9733'],
    errorReply(
      400,
      'litellm.BadRequestError: VertexAIException BadRequestError - b\'{\\n  "error": {\\n    "code": 400,\\n    "message": "Unable to submit request because at least one contents field is required."}}\'',
    ),
    { messages: [{ role: 'system', content: 'Greet the reader.' }] },
    { 'messages.0.role': 'user' },
  ),
  refused(
    ['Cohere knows no strict schema', 'OpenRouterTeam/openrouter-examples#71'],
    jsonReply({ message: "unknown field: parameter 'strict' is not a valid field." }, 422),
    STRICT_SCHEMA,
    { 'response_format.json_schema.strict': undefined },
  ),
  refused(
    ['vLLM takes a choice by name alone', 'langgenius/dify#7080'],
    errorReply(
      400,
      "[{'type': 'value_error', 'loc': ('body',), 'msg': 'Value error, Currently only named tools are supported.', 'input': {'model': 'm', 'tool_choice': 'auto'}}]",
    ),
    WITH_TOOLS,
  ),
  refused(
    ['Workers AI takes content as a string alone', 'opencodeschool/opencode.school#174'],
    jsonReply(
      {
        success: false,
        errors: [
          {
            code: 5006,
            message:
              "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: Type mismatch of '/messages/0/content', 'array' not in 'string'",
          },
        ],
        messages: [],
        result: null,
      },
      400,
    ),
    WITH_IMAGE,
    NO_IMAGE,
  ),
  refused(
    ['Groq takes a field for another', 'CherryHQ/cherry-studio#1099'],
    errorReply(400, "property 'reasoning_effort' is unsupported, did you mean 'reasoning_format'?"),
    EFFORT,
    { reasoning_effort: undefined },
  ),
  {
    name: 'Groq takes store for stop',
    source: 'fanenr/chatbot#21',
    api: 'responses',
    replies: [
      errorReply(400, "property 'store' is unsupported, did you mean 'stop'?"),
      responseReply({ texts: ['At nine'] }),
    ],
    expected: { text: 'At nine', requests: 2, sent: { store: undefined } },
  },
  refused(
    ['A gateway puts its words into the name of the field', 'AQBot-Desktop/AQBot#93'],
    errorReply(400, {
      message: 'Param Incorrect',
      type: 'upstream_error',
      param:
        'max_tokens is too large: 200000. This model supports at most 131072 completion tokens, whereas you provided 200000.',
      code: '400',
    }),
    MANY_TOKENS,
    { max_tokens: 131_072 },
  ),
  refused(
    ['vLLM counts the characters of a prompt that has no room', 'gi-dellav/zerostack#22'],
    errorReply(
      400,
      "This model's maximum context length is 131072 tokens. However, you requested 131072 output tokens and your prompt contains 14233 characters (more than 0 characters, which is the upper bound for 0 input tokens). Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_text, value=14233)",
    ),
    TOKEN_LIMIT(131_072),
  ),
  refused(
    ['Scaleway limits the answer with a status of its own', 'scaleway/docs-content#4858'],
    errorReply(416, 'max_completion_tokens is limited for this model'),
    MANY_TOKENS,
    { max_tokens: undefined },
  ),
  refused(
    ['A free model of Hugging Face writes few tokens', 'huggingface/transformers#28523'],
    jsonReply(
      { error: 'Input validation error: `max_new_tokens` must be <= 192. Given: 512' },
      422,
    ),
    TOKEN_LIMIT(512),
  ),
  refused(
    ['llama.cpp knows no part with an image', 'ggml-org/llama.cpp#12947'],
    errorReply(
      500,
      'Failed to parse messages: Unsupported content part type: "image_url"; messages = [\n  {\n    "role": "user",\n',
    ),
    WITH_IMAGE,
    NO_IMAGE,
  ),
  refused(
    ['llama-cpp-python adds a list to a string', 'abetlen/llama-cpp-python#1168'],
    errorReply(500, 'can only concatenate str (not "list") to str'),
    WITH_IMAGE,
    NO_IMAGE,
  ),
  refused(
    ['llama.cpp continues no answer while it thinks', 'architehc/selfware#77'],
    errorReply(400, 'Assistant response prefill is incompatible with enable_thinking.'),
    {
      messages: [
        { role: 'user', content: 'When?' },
        { role: 'assistant', content: 'At' },
      ],
    },
  ),
  refused(
    ['LiteLLM gives bytes of Python as the cause', 'BerriAI/litellm#15097'],
    errorReply(
      400,
      'litellm.BadRequestError: AnthropicException - b\'{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` and `top_p` cannot both be specified for this model. Please use only one."}}\'. Received Model Group=sonnet',
    ),
    { sampling: { temperature: 0.2, topP: 0.9 } },
  ),
  refused(
    ['LiteLLM lists the tools that it does not take', 'BerriAI/litellm#7785'],
    errorReply(
      400,
      "litellm.UnsupportedParamsError: together_ai does not support parameters: {'tools': [{'type': 'function', 'function': {'name': 'x'}}]}, for model=m. To drop these, set `litellm.drop_params=True`",
    ),
    WITH_TOOLS,
    { tools: undefined },
  ),
  refused(
    ['LiteLLM streams in appearance alone', 'BerriAI/litellm#5803'],
    errorReply(400, {
      message:
        "OpenAIException - The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      code: '400',
    }),
    {},
    { stream_options: undefined },
  ),
  refused(
    ['A router does not stream yet', 'sankalp-happy/switchboard#30'],
    errorReply(400, {
      message: 'stream: true is not supported by this endpoint yet',
      type: 'unsupported_parameter',
      param: 'stream',
    }),
    {},
    { stream: false },
  ),
  refused(
    ['Mistral says it twice, as lists', 'partITech/php-mistral#76'],
    jsonReply(
      {
        object: 'Error',
        detail: [
          { type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' },
        ],
        message: [
          { type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' },
        ],
        type: 'invalid_request_error',
        code: 3001,
      },
      422,
    ),
    { sampling: { seed: 7 } },
    { seed: undefined },
  ),
  refused(
    ['LiteLLM lists a field with its value', 'BerriAI/litellm#6856'],
    errorReply(
      400,
      "litellm.UnsupportedParamsError: anthropic does not support parameters: {'seed': 12345}, for model=claude. To drop these, set `litellm.drop_params=True`",
    ),
    { sampling: { seed: 12_345 } },
    { seed: undefined },
  ),
  refused(
    ['OpenAI tells where the effort has gone', 'Gitlawb/openclaude#1638'],
    errorReply(400, {
      message:
        "Unsupported parameter: 'reasoning_effort'. In the Responses API, this parameter has moved to 'reasoning.effort'. Try again with the new parameter.",
      type: 'invalid_request_error',
      param: null,
      code: 'unsupported_parameter',
    }),
    EFFORT,
    { reasoning_effort: undefined },
  ),
  {
    name: 'A server of Messages knows no thinking',
    source: 'zai-org/feedback#231',
    api: 'messages',
    request: EFFORT,
    replies: [
      errorReply(400, 'Validation: Unsupported parameter(s): thinking'),
      errorReply(400, 'Validation: Unsupported parameter(s): thinking'),
      answerReply('At nine'),
    ],
    expected: { text: 'At nine', requests: 3, sent: { thinking: undefined } },
  },
]
