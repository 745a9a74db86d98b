import { expect } from 'vitest'
import { messagesEvent } from '../../../../test/support/messages-replies.ts'
import { responseEvent } from '../../../../test/support/responses-replies.ts'
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
import { answered, type Recorded, WITH_TOOLS } from './recorded.ts'

const CALLED = { calls: [[TOOL.name, '{"query":"hours"}']] as const, reason: 'tool_calls' }
const call = (entry: object) => chunk({ tool_calls: [entry] })
const END = [chunk({}, 'tool_calls'), DONE] as const
const TOO_LONG = { code: 'context_length_exceeded', message: /shorten it/ }
const limited = (seconds: number) => ({
  code: 'upstream_rate_limited',
  message: new RegExp(`try again in ${seconds} seconds`),
  retryAfter: seconds,
})
/** The tests take time themselves. */
const inSeconds = (seconds: number) => Date.now() + seconds * 1_000
const SOON = {
  code: 'upstream_rate_limited',
  message: /try again in \d\d seconds/,
  retryAfter: expect.closeTo(75, -2),
}

export const RECORDED: readonly Recorded[] = [
  answered(
    ['OpenRouter tells of its reset in the error', 'dirge-code/dirge#719'],
    errorReply(429, {
      code: 429,
      message: 'Rate limit exceeded: free-models-per-min.',
      metadata: {
        headers: {
          'X-RateLimit-Limit': '20',
          'X-RateLimit-Remaining': '0',
          'X-RateLimit-Reset': String(inSeconds(90)),
        },
      },
    }),
    SOON,
  ),
  answered(
    ['A gateway gives a time where seconds belong', 'cloudfoundry/cloud_controller_ng#2544'],
    errorReply(429, 'Rate limit exceeded', {
      'retry-after': String(Math.ceil(inSeconds(90) / 1_000)),
    }),
    SOON,
  ),
  {
    name: 'Anthropic tells of the reset of one of its limits',
    source: 'dirge-code/dirge#718',
    api: 'messages',
    replies: [
      errorReply(
        429,
        { type: 'rate_limit_error', message: 'Number of requests has exceeded your limit' },
        {
          'anthropic-ratelimit-requests-remaining': '0',
          'anthropic-ratelimit-requests-reset': new Date(inSeconds(90)).toISOString(),
          'anthropic-ratelimit-tokens-remaining': '9000',
          'anthropic-ratelimit-tokens-reset': new Date(inSeconds(10)).toISOString(),
        },
      ),
    ],
    expected: SOON,
  },
  answered(
    ['A proxy tells the wait beside the error', 'sekine-1113/Negotole#61'],
    jsonReply({ error: 'Too many requests', retryAfter: 30 }, 429),
    limited(30),
  ),
  answered(
    ['A router tells in words when its limit is reset', 'decolua/9router#773'],
    errorReply(429, '[groq/llama] Quota exceeded (reset after 30s)'),
    limited(30),
  ),
  answered(
    ['A provider has no worker free, after the status', 'diegosouzapw/OmniRoute#8210'],
    streamReply(
      event({
        id: 'gen-1',
        choices: [],
        error: { code: 502, message: 'Worker local total request limit reached (33/32)' },
      }),
    ),
    { code: 'upstream_failed', message: /failed \(502\): try again/, requests: 3 },
  ),
  answered(
    ['Gemini breaks the stream with an error in several lines', 'vercel/ai#5217'],
    streamReply(chunk({ content: 'At' }), {
      send: '{\n  "error": {\n    "code": 503,\n    "message": "The model is overloaded. Please try again later.",\n    "status": "UNAVAILABLE"\n  }\n}\n',
    }),
    { code: 'upstream_failed', message: /overloaded/ },
  ),
  answered(
    ['A filter refuses in the stream, quoted by a proxy', 'Oaklight/argo-proxy#91'],
    streamReply(
      event({
        error: {
          message:
            "Error code: 400 - {'error': {'message': 'The response was filtered due to the prompt triggering the content management policy.', 'code': 'content_filter'}}",
        },
      }),
    ),
    { code: 'upstream_refused', message: /filtered/ },
  ),
  answered(
    [
      'A prompt is too long in Russian, behind a gateway with status 500',
      'coddy-project/coddy-agent#322',
    ],
    errorReply(
      500,
      'provider "deep": openai complete: 400 Bad Request {"message":"Слишком длинный запрос: 121692 токенов входа при пределе 46112 на этом тарифе."}',
    ),
    TOO_LONG,
  ),
  answered(
    ['LM Studio cannot cut the prompt', 'anomalyco/opencode#11141'],
    streamReply(
      event({ error: { message: 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)' } }),
    ),
    TOO_LONG,
  ),
  answered(
    ['GitHub Models takes small requests alone', 'marimo-team/marimo#8565'],
    errorReply(413, {
      code: 'tokens_limit_reached',
      message: 'Request body too large for gpt-5-mini model. Max size: 4000 tokens.',
    }),
    { code: expect.any(String) as unknown as string, message: /shorten it/ },
  ),
  answered(
    ['llama-cpp-python counts the requested tokens', 'rllm-team/rllm#55'],
    errorReply(500, 'Requested tokens (5160) exceed context window of 512'),
    TOO_LONG,
  ),
  answered(
    ['A wrapper of ggml counts the tokens', 'InsightEdge01/MultipleDocumentllama2Bot#2'],
    errorReply(500, 'Number of tokens (768) exceeded maximum context length (512)'),
    TOO_LONG,
  ),
  answered(
    ['NVIDIA tells of the end of a model as a problem document', 'NVIDIA/NemoClaw#11902'],
    jsonReply(
      {
        type: 'about:blank',
        title: 'Gone',
        status: 410,
        detail: "The model 'v4-pro' has reached its end of life and is no longer available.",
      },
      410,
    ),
    { code: 'upstream_model_not_found', message: /no longer offered.*CHAT_MODEL/ },
  ),
  answered(
    ['A gateway tells of a deprecated model with status 500', 'epam/ai-dial-chat#5147'],
    errorReply(
      500,
      'The model associated with the deployment is deprecated and no longer available for use.',
    ),
    { code: 'upstream_model_not_found', message: /CHAT_MODEL/ },
  ),
  answered(
    ['A gateway passes on the end of a model as an error of its own', 'caidaoli/ccLoad#107'],
    errorReply(400, {
      type: 'bad_response_status_code',
      message: "The model 'v4-flash' has reached its end of life on 2026-08-07T09:00:00Z.",
    }),
    { code: 'upstream_model_not_found', message: /CHAT_MODEL/ },
  ),
  answered(
    ['OpenRouter has no endpoint for a free model', 'vyancharuk/nodejs-api-boilerplate#16'],
    errorReply(404, 'No endpoints found for nousresearch/hermes-3-llama-3.1-405b:free.'),
    { code: 'upstream_model_not_found', message: /CHAT_MODEL/ },
  ),
  answered(
    ['Cloudflare lists its errors, with status 200', 'cloudflare/cloudflare-docs#15116'],
    jsonReply({
      result: null,
      success: false,
      errors: [{ code: 7009, message: 'Upstream service unavailable' }],
      messages: [],
    }),
    { code: 'upstream_failed', message: /failed \(500\): try again/, requests: 3 },
  ),
  answered(
    ['Cloudflare knows no account', 'anomalyco/opencode#23773'],
    jsonReply(
      {
        result: null,
        success: false,
        errors: [{ code: 7003, message: 'Could not route to /accounts/x/ai/v1/chat/completions' }],
      },
      404,
    ),
    { code: 'upstream_model_not_found', message: /CHAT_BASE_URL/ },
  ),
  answered(
    ['A router answers with no choices at all', 'decolua/9router#2727'],
    jsonReply({ id: null, object: 'chat.completion', choices: null, usage: null }),
    { code: 'upstream_failed', message: /./ },
  ),
  answered(
    ['A server swallows the error of another', 'open-webui/open-webui#28938'],
    rawReply('null', 'application/json'),
    { code: 'upstream_failed', message: /./ },
  ),
  answered(
    ['Ollama tells of a call under a name of its own', 'ollama/ollama#11704'],
    streamReply(event({ 'error parsing tool call': "invalid character 'c' looking for a value" })),
    { code: 'upstream_failed', message: /try again/ },
  ),
  {
    name: 'OpenAI is overloaded in the stream of Responses',
    source: 'lsdefine/GenericAgent#753',
    api: 'responses',
    replies: [
      streamReply(
        responseEvent('error', {
          code: 'server_is_overloaded',
          message: 'Our servers are currently overloaded. Please try again later.',
        }),
      ),
    ],
    expected: { code: 'upstream_failed', message: /try again/, requests: 3 },
  },
  {
    name: 'A gateway of Messages lists its errors',
    source: 'cloudflare/cloudflare-docs#19677',
    api: 'messages',
    replies: [
      streamReply(
        messagesEvent('error', {
          success: false,
          errors: [{ code: 3040, message: 'No more data centers to forward the request to' }],
        }),
      ),
    ],
    expected: { code: 'upstream_failed', message: /try again/, requests: 3 },
  },
  answered(
    ['The arguments of a call begin before its name', 'Zoo-Code-Org/Zoo-Code#695'],
    streamReply(
      call({ index: 0, function: { arguments: '{"query":' } }),
      call({ index: 0, id: 'c', function: { name: TOOL.name, arguments: '"hours"}' } }),
      ...END,
    ),
    CALLED,
    WITH_TOOLS,
  ),
  answered(
    ['The name of a call comes after its identifier', 'vercel/ai#14722'],
    streamReply(
      call({ index: 0, id: 'c', function: { arguments: '{"query":' } }),
      call({ index: 0, function: { name: TOOL.name, arguments: '"hours"}' } }),
      ...END,
    ),
    CALLED,
    WITH_TOOLS,
  ),
  answered(
    [
      'The last part of a call repeats its name, without identifier',
      'agentscope-ai/agentscope-java#1223',
    ],
    streamReply(
      call({ index: 0, id: 'c', function: { name: TOOL.name, arguments: '{"query":"hours"' } }),
      call({ index: 0, id: null, function: { name: TOOL.name, arguments: '}' } }),
      ...END,
    ),
    CALLED,
    WITH_TOOLS,
  ),
  answered(
    ['The arguments of a call come first, and nothing has an index', 'StacDev/flow_ui#45'],
    streamReply(
      call({ function: { arguments: '{"query":' } }),
      call({ id: 'c', function: { name: TOOL.name, arguments: '"hours"}' } }),
      ...END,
    ),
    CALLED,
    WITH_TOOLS,
  ),
  answered(
    ['Qwen goes on with an empty identifier', 'ThinkInAIXYZ/deepchat#355'],
    streamReply(
      call({
        index: 0,
        id: 'c',
        type: 'function',
        function: { name: TOOL.name, arguments: '{"query' },
      }),
      call({ index: 0, id: '', type: 'function', function: { arguments: '":"ho' } }),
      call({ index: 0, id: '', type: 'function', function: { name: '', arguments: 'urs"}' } }),
      ...END,
    ),
    CALLED,
    WITH_TOOLS,
  ),
]
