import { chunk, errorReply, event, streamReply } from '../../../../test/support/upstream-replies.ts'
import { ANSWER, ANSWERED, inCompletions } from './recorded.ts'

const refusal = (message: string, type: string | null = null) =>
  errorReply(400, {
    message: `litellm.BadRequestError: ${message}. Received Model Group=main\nAvailable Model Group Fallbacks=None`,
    type,
    param: null,
    code: '400',
  })

export const RECORDED = inCompletions([
  {
    name: 'LiteLLM drops no parameters of itself',
    source: 'BerriAI/litellm#33738',
    request: { sampling: { temperature: 0.1 } },
    replies: [
      refusal(
        "litellm.UnsupportedParamsError: gpt-5-nano doesn't support temperature=0.1 while reasoning is active. Only temperature=1 is supported unless reasoning_effort resolves to 'none'",
        'invalid_request_error',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { temperature: undefined } },
  },
  {
    name: 'LiteLLM lists the parameters that a model does not take',
    source: 'tscibilia/home-ops#3395',
    request: { sampling: { effort: 'high' } },
    replies: [
      refusal(
        "litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=minimax-m3. To drop these, set `litellm.drop_params=True`",
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { reasoning_effort: undefined } },
  },
  {
    name: 'LiteLLM quotes a refusal of xAI',
    source: 'BerriAI/litellm#12635',
    request: { sampling: { stop: ['END'] } },
    replies: [
      refusal(
        'XaiException - {"code":"Client specified an invalid argument","error":"Argument not supported on this model: stop"}',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { stop: undefined } },
  },
  {
    name: 'LiteLLM quotes a refusal of max_tokens',
    source: 'BerriAI/litellm#8199',
    request: { sampling: { maxTokens: 50 } },
    replies: [
      refusal(
        "GithubException - Error code: 400 - {'error': {'message': \"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.\", 'param': 'max_tokens'}}",
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { max_tokens: undefined, max_completion_tokens: 50 } },
  },
  {
    name: 'A model on Bedrock takes no top_p while it thinks',
    source: 'n8n-io/n8n#14288',
    request: { sampling: { topP: 0.9 } },
    replies: [
      refusal(
        'BedrockException - {"message":"The model returned the following errors: top_p must be unset when thinking is enabled."}',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { top_p: undefined } },
  },
  {
    name: 'A model of Anthropic’s has one temperature while it thinks',
    source: 'MartialBE/one-hub#529',
    request: { sampling: { temperature: 0.1 } },
    replies: [
      refusal(
        '`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { temperature: undefined } },
  },
  {
    name: 'A model of Anthropic’s takes a temperature or top_p',
    source: 'browseros-ai/BrowserOS-agent#62',
    request: { sampling: { temperature: 0.1, topP: 0.9 } },
    replies: [
      refusal(
        '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { temperature: undefined, top_p: 0.9 } },
  },
  {
    name: 'LiteLLM quotes what Azure filtered',
    source: 'BerriAI/litellm#16231',
    replies: [
      refusal(
        "litellm.ContentPolicyViolationError: AzureException - The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry",
      ),
    ],
    expected: {
      code: 'upstream_refused',
      message: /content management policy.*modify your prompt/,
    },
  },
  {
    name: 'LiteLLM quotes how long Azure asks to wait',
    source: 'dyad-sh/dyad#1849',
    replies: [
      errorReply(429, {
        message:
          'litellm.RateLimitError: AzureException RateLimitError - Your requests to gpt-5.1 have exceeded the token rate limit. Please retry after 60 seconds. Received Model Group=gpt-5.1',
        type: 'throttling_error',
        param: null,
        code: '429',
      }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in 60 seconds/, retryAfter: 60 },
  },
  {
    name: 'LiteLLM loses the connection to DeepSeek in the middle',
    source: 'preloop/preloop#117',
    replies: [
      streamReply(
        chunk({ content: 'At' }),
        event({
          error: {
            message:
              'litellm.MidStreamFallbackError: litellm.APIConnectionError: DeepseekException - peer closed connection without sending complete message body',
            type: null,
            param: null,
            code: '500',
          },
        }),
      ),
    ],
    expected: { code: 'upstream_failed', message: /failed \(500\).*try again/ },
  },
  {
    name: 'LiteLLM sends no mark of the end',
    source: 'BerriAI/litellm#1255',
    replies: [streamReply(chunk({ content: 'At nine' }), chunk({}, 'stop'))],
    expected: { text: 'At nine', reason: 'stop' },
  },
  {
    name: 'LiteLLM leaves out the finish reason until the last chunk',
    source: 'BerriAI/liteLLM-proxy#19',
    replies: [
      streamReply(
        event({ choices: [{ index: 0, delta: { content: 'At nine' } }] }),
        event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
        { send: 'data: [DONE]\n\n' },
      ),
    ],
    expected: { text: 'At nine', reason: 'stop' },
  },
])
