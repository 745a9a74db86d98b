import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  rawReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import {
  AFTER_CALL,
  ANSWER,
  ANSWERED,
  DETAILED_TOOL,
  inCompletions,
  WITH_TOOLS,
} from './recorded.ts'

/** Errors of the layer for chat completions come in a list of one. */
const refusal = (message: string, code = 400, more: object = {}) =>
  jsonReply([{ error: { code, message, status: 'INVALID_ARGUMENT', ...more } }], code)

const unknownName = (name: string, place: string) =>
  `Invalid JSON payload received. Unknown name "${name}"${place && ` at '${place}'`}: Cannot find field.`

const PARAMETERS = 'tools[0].function_declarations[0].parameters'
const named = (name: string) =>
  chunk({ tool_calls: [{ function: { name, arguments: '{}' }, id: 'call_1', type: 'function' }] })

export const RECORDED = inCompletions([
  {
    name: 'Gemini does not know a field',
    source: 'MinLL/SkyrimNet-GamePlugin#77',
    request: { sampling: { frequencyPenalty: 0.1 } },
    replies: [refusal(unknownName('frequency_penalty', '')), ANSWER],
    expected: { ...ANSWERED, sent: { frequency_penalty: undefined } },
  },
  {
    name: 'Gemini does not know two fields, and says so at once',
    source: 'sleepydeer666/RPGBox#2',
    request: { sampling: { frequencyPenalty: 0.1, presencePenalty: 0.1 } },
    replies: [
      refusal(`${unknownName('frequency_penalty', '')}\n${unknownName('presence_penalty', '')}`),
      refusal(unknownName('frequency_penalty', '')),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      requests: 3,
      sent: { frequency_penalty: undefined, presence_penalty: undefined },
    },
  },
  ...[
    ['$schema', PARAMETERS, 'openswarm-ai/openswarm#24'],
    ['additionalProperties', `${PARAMETERS}.properties[0].value`, 'receptron/mulmocast-app#934'],
    ['exclusiveMinimum', `${PARAMETERS}.properties[1].value`, 'hotovo/aider-desk#827'],
    ['const', `${PARAMETERS}.properties[2].value`, 'zed-industries/zed#44875'],
  ].map(([name = '', place = '', source = '']) => ({
    name: `Gemini does not know ${name} in the schema of a tool`,
    source,
    request: { tools: [DETAILED_TOOL] },
    replies: [refusal(unknownName(name, place)), ANSWER],
    expected: {
      ...ANSWERED,
      sent: {
        'tools.0.function.parameters': {
          type: 'object',
          properties: {
            copy: { type: 'object', properties: { shelf: { type: 'string' } } },
            days: { type: 'integer', description: 'For how long' },
            kind: { type: 'string', enum: ['loan'] },
            note: { type: 'string' },
            tags: { type: 'array', items: { type: 'string' } },
          },
          required: ['copy'],
        },
      },
    },
  })),
  {
    name: 'Gemini, behind another gateway, does not know a part of the schema of a tool',
    source: 'pollinations/pollinations#6307',
    request: { tools: [DETAILED_TOOL] },
    replies: [
      jsonReply(
        {
          success: false,
          error: {
            message: `vertex-ai error: ${unknownName('exclusiveMinimum', `${PARAMETERS}.properties[2].value`)}`,
            code: 'BAD_REQUEST',
          },
          status: 400,
        },
        400,
      ),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { 'tools.0.function.parameters.properties.days.exclusiveMinimum': undefined },
    },
  },
  {
    name: 'Gemini takes no name of a tool that begins with a digit',
    source: 'google-gemini/gemini-cli#6704',
    request: { tools: [{ ...TOOL, name: '2fa-reset' }] },
    replies: [streamReply(named('_2fa-reset'), chunk({}, 'stop'), DONE)],
    expected: {
      calls: [['2fa-reset', '{}']],
      reason: 'tool_calls',
      sent: { 'tools.0.function.name': '_2fa-reset' },
    },
  },
  {
    name: 'Gemini gives a call no index, in one piece',
    source: 'openai/openai-python#2806',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        chunk({
          role: 'assistant',
          tool_calls: [
            {
              id: 'function-call-1',
              type: 'function',
              function: { name: TOOL.name, arguments: '{"query":"hours"}' },
            },
          ],
        }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{"query":"hours"}']], reason: 'tool_calls' },
  },
  {
    name: 'A proxy of Gemini gives a call neither an index nor an identifier',
    source: 'AstrBotDevs/AstrBot#6661',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        chunk({ tool_calls: [{ id: 'call_9', type: 'function', function: { name: TOOL.name } }] }),
        chunk({ tool_calls: [{ id: '', type: '', function: { arguments: '{"query":"hours"}' } }] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{"query":"hours"}']], reason: 'tool_calls' },
  },
  {
    name: 'Gemini ends a call as if it were text',
    source: 'googleapis/python-genai#2868',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        chunk({
          tool_calls: [{ index: 0, id: 'c1', function: { name: TOOL.name, arguments: '{}' } }],
        }),
        chunk({ role: 'assistant' }, 'stop', {
          usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 40 },
        }),
        DONE,
      ),
    ],
    expected: {
      calls: [[TOOL.name, '{}']],
      reason: 'tool_calls',
      usage: { promptTokens: 9, completionTokens: 2 },
    },
  },
  {
    name: 'Gemini misses its signature in a call that another model made',
    source: 'Gitlawb/openclaude#67',
    request: AFTER_CALL,
    replies: [
      refusal(
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call `default_api:search_documents`, position 2.',
      ),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: {
        'messages.1.tool_calls.0.extra_content.google.thought_signature':
          'skip_thought_signature_validator',
      },
    },
  },
  {
    name: 'Gemini tells in the details of an error when to retry',
    source: 'RooCodeInc/Roo-Code#3883',
    replies: [
      refusal('Resource has been exhausted (e.g. check quota).', 429, {
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '37s' },
        ],
      }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 37 seconds/, retryAfter: 37 },
  },
  {
    name: 'A proxy quotes the whole error of Gemini in its message',
    source: 'continuedev/continue#10530',
    replies: [
      errorReply(400, {
        message: JSON.stringify({
          error: {
            code: 400,
            message: 'Unsupported MIME type: image/tiff',
            status: 'INVALID_ARGUMENT',
          },
        }),
        code: 400,
        status: 'Bad Request',
      }),
    ],
    expected: { code: 'upstream_refused', message: /: Unsupported MIME type: image\/tiff/ },
  },
  {
    name: 'Gemini tells in words and in details when to retry',
    source: 'googleapis/python-genai#1875',
    replies: [
      refusal('You exceeded your current quota. Please retry in 53.016342224s.', 429, {
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '53s' }],
      }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 54 seconds/, retryAfter: 54 },
  },
  {
    name: 'Gemini names the finish reason in its own way',
    source: 'jakobdylanc/llmcord#84',
    replies: [
      streamReply(
        chunk({ content: 'At nine' }),
        event({ choices: [{ index: 0, delta: {}, finish_reason: null, finishReason: 'stop' }] }),
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'A proxy of Gemini gives each chunk a finish reason',
    source: 'QuantumNous/new-api#378',
    replies: [
      streamReply(
        chunk({ content: 'At ' }, 'stop', { usage: null }),
        { pauseMs: 20 },
        chunk({ content: 'ni' }, 'stop', { usage: null }),
        { pauseMs: 20 },
        chunk({ content: 'ne' }, 'stop', { usage: null }),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'Gemini withholds the rest of the answer',
    source: 'BerriAI/litellm#6104',
    replies: [streamReply(chunk({ content: 'At' }), chunk({}, 'content_filter'), DONE)],
    expected: { text: 'At', reason: 'content_filter' },
  },
  {
    name: 'Gemini cannot read the call that the model wrote',
    source: 'pydantic/pydantic-ai#3095',
    request: WITH_TOOLS,
    replies: [streamReply(chunk({ role: 'assistant' }, 'MALFORMED_FUNCTION_CALL'), DONE), ANSWER],
    expected: ANSWERED,
  },
  {
    name: 'Vertex keeps the connection with comments as data',
    source: 'anomalyco/opencode#50871',
    replies: [
      rawReply(
        `data: : keepalive\n\n${chunk({ content: 'At nine' }).send}data: : keepalive\n\n${chunk({}, 'stop').send}data: [DONE]\n\n`,
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'Vertex names a field in its own way',
    source: 'GoogleCloudPlatform/vertex-ai-samples#3515',
    request: { sampling: { stop: ['END'] } },
    replies: [
      refusal(
        'Unable to submit request because the model does not support the stopSequences parameter. Remove it and try again.',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { stop: undefined } },
  },
  {
    name: 'Gemini takes no tools together with JSON',
    source: 'google-gemini/deprecated-generative-ai-python#515',
    request: { tools: [TOOL], sampling: { format: { type: 'json' } } },
    replies: [
      refusal("Function calling with a response mime type: 'application/json' is unsupported"),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { response_format: undefined, 'tools.0.function.name': TOOL.name },
    },
  },
  {
    name: 'Gemini refuses a key with status 400',
    source: 'can1357/oh-my-pi#449',
    replies: [
      refusal('API key not valid. Please pass a valid API key.', 400, {
        details: [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
        ],
      }),
    ],
    expected: { code: 'upstream_unauthorized', message: /check CHAT_API_KEY/ },
  },
  {
    name: 'Gemini is overloaded',
    source: 'google-gemini/gemini-cli#22988',
    replies: [
      errorReply(503, {
        code: 503,
        message: 'The model is overloaded. Please try again later.',
        status: 'UNAVAILABLE',
      }),
      ANSWER,
    ],
    expected: ANSWERED,
  },
])
