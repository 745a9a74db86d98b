import { errorReply, jsonReply, rawReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { ANSWER, ANSWERED, inCompletions, WITH_TOOLS } from './recorded.ts'

const refusal = (message: string, code?: string, headers: Record<string, string> = {}) =>
  errorReply(400, { message, type: 'invalid_request_error', ...(code && { code }) }, headers)
const NOW = { 'retry-after-ms': '1' }

const rateLimit = (message: string, headers: Record<string, string> = {}) =>
  errorReply(429, { message, type: 'tokens', code: 'rate_limit_exceeded' }, headers)

export const RECORDED = inCompletions([
  {
    name: 'Groq has taken the model away',
    source: 'crewAIInc/crewAI#1976',
    replies: [
      refusal(
        'The model `llama-3.1-70b` has been decommissioned and is no longer supported. Please refer to the list of deprecations for a recommendation on which model to use instead.',
        'model_decommissioned',
      ),
    ],
    expected: { code: 'upstream_model_not_found', message: /no longer offered.*CHAT_MODEL/ },
  },
  {
    name: 'Groq tells of a gone model without its code',
    source: 'bklieger-groq/stockbot-on-groq#59',
    replies: [
      refusal('The model `llama3-70b` has been decommissioned and is no longer supported.'),
    ],
    expected: { code: 'upstream_model_not_found', message: /no longer offered.*CHAT_MODEL/ },
  },
  {
    name: 'Groq tells in words of seconds when to retry',
    source: 'Aider-AI/aider#3265',
    replies: [
      rateLimit(
        'Rate limit reached for model `gemma2-9b-it` on tokens per minute (TPM): Limit 15000, Used 11972, Requested 4351. Please try again in 5.289s.',
      ),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 6 seconds/, retryAfter: 6 },
  },
  {
    name: 'Groq tells in words of minutes when to retry',
    source: 'OpenHands/OpenHands#4167',
    replies: [
      rateLimit(
        'Rate limit reached for model `llama-3.2-90b` on tokens per minute (TPM): Limit 7000, Used 6148, Requested 6895. Please try again in 1m0.363142857s.',
      ),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 61 seconds/, retryAfter: 61 },
  },
  {
    name: 'Groq tells in headers alone when the limit is reset',
    source: 'Pythagora-io/gpt-pilot#862',
    replies: [
      rateLimit('Rate limit reached', {
        'x-ratelimit-remaining-requests': '14370',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-requests': '2m59.56s',
        'x-ratelimit-reset-tokens': '7.66s',
      }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 8 seconds/, retryAfter: 8 },
  },
  {
    name: 'Groq tells in headers of the next day',
    source: 'groq/groq-python#101',
    replies: [
      rateLimit('Rate limit reached', {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1h2m3s',
        'x-ratelimit-reset-tokens': '1.5s',
      }),
    ],
    expected: {
      code: 'upstream_rate_limited',
      message: /try again in 62 minutes/,
      retryAfter: 3_723,
    },
  },
  {
    name: 'Groq asks to wait for what fits into no minute',
    source: 'danielmiessler/Fabric#364',
    replies: [
      rateLimit(
        'Rate limit reached for model `llama3-70b` on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903. Please try again in 50.597142857s.',
      ),
    ],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'Groq cannot read the call that the model wrote',
    source: 'groq/groq-typescript#28',
    request: WITH_TOOLS,
    replies: [
      refusal("Failed to call a function. See 'failed_generation'.", 'tool_use_failed', NOW),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'Groq finds the arguments of a call wrong',
    source: 'HunorLaczko/ha-groq-cloud-api#20',
    request: WITH_TOOLS,
    replies: [
      refusal(
        'tool call validation failed: parameters for tool search_documents did not match schema: errors: [`/query`: expected array, but got string]',
        'tool_use_failed',
        NOW,
      ),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'Groq cannot read a call, and says so as an event',
    source: 'vercel/ai#6916',
    request: WITH_TOOLS,
    replies: [
      rawReply(
        `event: error\ndata: ${JSON.stringify({
          error: {
            message: 'Failed to call a function.',
            type: 'invalid_request_error',
            code: 'tool_use_failed',
            status_code: 400,
          },
        })}\n\n`,
      ),
      ANSWER,
    ],
    expected: ANSWERED,
  },
  {
    name: 'Groq does not stream JSON',
    source: 'khoj-ai/khoj#831',
    request: { sampling: { format: { type: 'json' } } },
    replies: [
      refusal("'response_format` does not support streaming"),
      jsonReply({ choices: [{ message: { content: '{"opens":9}' }, finish_reason: 'stop' }] }),
    ],
    expected: { text: '{"opens":9}', requests: 2, sent: { stream: false } },
  },
  {
    name: 'Groq takes no tools together with JSON',
    source: 'agno-agi/agno#1065',
    request: { tools: [TOOL], sampling: { format: { type: 'json' } } },
    replies: [
      refusal("'response_format` json_object cannot be combined with tool/function calling"),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { response_format: undefined, 'tools.0.function.name': TOOL.name },
    },
  },
  {
    name: 'Groq answers in no schema',
    source: 'ItzCrazyKns/Vane#980',
    request: {
      sampling: { format: { type: 'json-schema', name: 'hours', schema: { type: 'object' } } },
    },
    replies: [refusal('This model does not support response format `json_schema`.'), ANSWER],
    expected: { ...ANSWERED, sent: { response_format: { type: 'json_object' } } },
  },
  {
    name: 'Groq expects the path of another service',
    source: 'zlwaterfield/scramble#12',
    replies: [
      errorReply(404, {
        message: 'Unknown request URL: POST /v1/chat/completions. Please check the URL for typos.',
        type: 'invalid_request_error',
        code: 'unknown_url',
      }),
    ],
    expected: { code: 'upstream_model_not_found', message: /CHAT_BASE_URL is the part/ },
  },
])
