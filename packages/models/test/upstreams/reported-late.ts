import { expect } from 'vitest'
import { answerReply } from '../../../../test/support/messages-replies.ts'
import { responseEvent } from '../../../../test/support/responses-replies.ts'
import { errorReply, jsonReply, streamReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import {
  answered,
  DETAILED_TOOL,
  type Recorded,
  refused,
  WITH_IMAGE,
  WITH_TOOLS,
} from './recorded.ts'

const NOT_FOUND = { code: 'upstream_model_not_found', message: /CHAT_MODEL/ }
const CALLED = { calls: [[TOOL.name, '{"query":"hours"}']] as const, reason: 'tool_calls' }
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'c', name: TOOL.name, arguments: '' }
const SIMPLER = { 'tools.0.function.parameters.$defs': undefined }
const inResponses = (
  [name, source]: readonly [string, string],
  steps: Parameters<typeof streamReply>,
  expected: Recorded['expected'],
): Recorded => ({
  name,
  source,
  api: 'responses',
  request: WITH_TOOLS,
  replies: [streamReply(...steps)],
  expected,
})

export const RECORDED: readonly Recorded[] = [
  refused(
    ['Mistral calls the effort a mode of the prompt', 'earendil-works/pi#3096'],
    jsonReply(
      {
        object: 'error',
        message: 'Reasoning prompt mode is not enabled for this model',
        type: 'invalid_request_invalid_args',
        param: null,
        code: '3051',
      },
      400,
    ),
    { sampling: { effort: 'high' } },
    { reasoning_effort: undefined },
  ),
  answered(
    ['Bedrock knows no such identifier', 'earendil-works/pi#4993'],
    errorReply(400, 'Validation error: The provided model identifier is invalid.'),
    NOT_FOUND,
  ),
  answered(
    ['Bedrock has no chat with a model', 'mlcommons/modelbench#1654'],
    errorReply(
      400,
      "This action doesn't support the model that you provided. Try again with a supported text or chat model.",
    ),
    NOT_FOUND,
  ),
  answered(
    ['DeepSeek lists the models that it knows', 'BigPizzaV3/CodexPlusPlus#959'],
    errorReply(
      400,
      'The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed deepseek-ai/DeepSeek-V4-Flash.',
    ),
    NOT_FOUND,
  ),
  refused(
    ['Gemini finds too many states in the schema of a tool', 'receptron/MulmoChat#123'],
    errorReply(
      400,
      'The specified schema produces a constraint that has too many states for serving. Typical causes of this error are schemas with lots of text.',
    ),
    { tools: [DETAILED_TOOL] },
    SIMPLER,
  ),
  refused(
    ['Gemini finds too many states in the schema of an answer', 'googleapis/python-genai#660'],
    errorReply(
      400,
      'The specified schema produces a constraint that has too many states for serving. Typical causes of this error are schemas with lots of text.',
    ),
    {
      sampling: {
        format: { type: 'json-schema', name: 'a', schema: { type: 'object', properties: {} } },
      },
    },
    { 'response_format.json_schema': undefined },
  ),
  refused(
    ['Gemini has no properties where there is no object', 'anomalyco/opencode#11888'],
    errorReply(
      400,
      'GenerateContentRequest.tools[0].function_declarations[80].parameters.properties[data].properties: only allowed for OBJECT type',
    ),
    { tools: [DETAILED_TOOL] },
    SIMPLER,
  ),
  refused(
    ['Gemini does not find what a schema refers to', 'google-gemini/gemini-cli#13326'],
    errorReply(400, 'reference to undefined schema at properties.target_object.items'),
    { tools: [DETAILED_TOOL] },
    SIMPLER,
  ),
  answered(
    ['DeepSeek finds one image broken', 'NousResearch/hermes-agent#109707'],
    errorReply(
      400,
      '.messages[0].image[0]: You have uploaded an unsupported image. Please make sure your image is valid and has one of the following formats: webp, png, jpeg, and gif.',
    ),
    { code: 'upstream_refused', message: /unsupported image/ },
    WITH_IMAGE,
  ),
  {
    name: 'Ollama sees no images in Messages',
    source: 'ollama/ollama#17301',
    api: 'messages',
    request: WITH_IMAGE,
    replies: [
      errorReply(400, 'this model does not support image input (ref: b8bd)'),
      answerReply('At nine'),
    ],
    expected: {
      text: 'At nine',
      requests: 2,
      sent: { 'messages.0.content': expect.anything() },
    },
  },
  inResponses(
    ['SGLang forgets the call at the end of Responses', 'sgl-project/sglang#12652'],
    [
      responseEvent('response.output_item.added', { output_index: 0, item: CALL }),
      responseEvent('response.function_call_arguments.delta', {
        output_index: 0,
        delta: '{"query":"hours"}',
      }),
      responseEvent('response.completed', {
        response: {
          status: 'completed',
          output: [{ id: 'msg_1', type: 'message', content: [{ type: 'text', text: '' }] }],
        },
      }),
    ],
    CALLED,
  ),
  inResponses(
    ['The arguments of a call come at once, in Responses', 'lidge-jun/opencodex#4652'],
    [
      responseEvent('response.output_item.added', { output_index: 0, item: CALL }),
      responseEvent('response.function_call_arguments.done', {
        output_index: 0,
        arguments: '{"query":"hours"}',
      }),
      responseEvent('response.completed', { response: { status: 'completed', output: [] } }),
    ],
    CALLED,
  ),
  inResponses(
    ['The text comes with the end of its item alone', 'BerriAI/litellm#32724'],
    [
      responseEvent('response.output_item.done', {
        output_index: 0,
        item: { type: 'message', content: [{ type: 'output_text', text: 'At nine' }] },
      }),
      responseEvent('response.completed', { response: { status: 'completed', output: [] } }),
    ],
    { text: 'At nine', reason: 'stop' },
  ),
]
