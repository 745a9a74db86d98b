import {
  answerReply,
  messagesReply,
  refusalReply,
  textBlock,
  thinkingBlock,
  toolBlock,
} from '../../../../test/support/messages-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import type { Recorded } from './recorded.ts'

const api = 'messages'
const AT_NINE = answerReply('At nine.')
const NOW = { 'retry-after': '0' }
const JSON_ANSWER = {
  format: {
    type: 'json-schema' as const,
    name: 'hours',
    schema: { type: 'object', properties: { opens: { type: 'integer' } } },
  },
}
const call = (callId: string, reasoning: object[] = []) => ({
  role: 'assistant' as const,
  content: '',
  toolCalls: [{ callId, name: TOOL.name, arguments: '{}' }],
  reasoning: reasoning.map((part) => ({ form: 'block' as const, signature: '', ...part })),
})
const ASKED = { role: 'user' as const, content: 'When does the library open?' }

export const RECORDED: readonly Recorded[] = [
  {
    name: 'A small model writes at most 4,096 tokens',
    source: 'ChatGPTNextWeb/NextChat#4964',
    api,
    replies: [
      refusalReply(
        400,
        'max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20240620',
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 4_096 } },
  },
  {
    name: 'A client asks for more than Opus 4.5 writes',
    source: 'anthropics/claude-code#24451',
    api,
    request: { sampling: { maxTokens: 128_001 } },
    replies: [
      refusalReply(
        400,
        'max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens for claude-opus-4-5-20251101',
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 64_000 } },
  },
  {
    name: 'Claude 3.7 counts the answer to come as part of the window',
    source: 'docker/docker-agent#569',
    api,
    replies: [
      refusalReply(
        400,
        'input length and `max_tokens` exceed context limit: 178959 + 32000 > 200000, decrease input length or `max_tokens` and try again',
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 21_041 } },
  },
  {
    name: 'Claude 4 has next to no room left for an answer',
    source: 'continuedev/continue#6080',
    api,
    replies: [
      refusalReply(
        400,
        'input length and `max_tokens` exceed context limit: 199759 + 32000 > 200000, decrease input length or `max_tokens` and try again',
      ),
    ],
    expected: { code: 'context_length_exceeded', message: /longer than the chat model can read/ },
  },
  {
    name: 'Haiku 4.5 thinks by a budget alone, and takes no effort',
    source: 'docker/docker-agent#3362',
    api,
    request: { sampling: { effort: 'low' } },
    replies: [
      refusalReply(400, 'adaptive thinking is not supported on this model'),
      refusalReply(400, 'This model does not support the effort parameter.'),
      messagesReply([...thinkingBlock(0, 'Hm.', 'c2ln'), ...textBlock(1, 'At nine.')]),
    ],
    expected: {
      text: 'At nine.',
      requests: 3,
      sent: { 'thinking.budget_tokens': 2_048, output_config: undefined },
    },
  },
  {
    name: 'A model takes no effort at all',
    source: 'anthropics/claude-code#30010',
    api,
    request: { sampling: { effort: 'high' } },
    replies: [refusalReply(400, 'This model does not support the effort parameter.'), AT_NINE],
    expected: { text: 'At nine.', requests: 2, sent: { output_config: undefined } },
  },
  {
    name: 'Sonnet 4.6 does not know the effort xhigh',
    source: 'SkillfulAgents/SuperAgent#1142',
    api,
    request: { sampling: { effort: 'xhigh' } },
    replies: [
      refusalReply(
        400,
        "output_config.effort: 'xhigh' is not supported by this model. Supported: low, medium, high, max",
      ),
      AT_NINE,
    ],
    expected: {
      text: 'At nine.',
      requests: 2,
      sent: { output_config: undefined, 'thinking.type': 'adaptive' },
    },
  },
  {
    name: 'Opus 4.7 takes no temperature',
    source: 'Mixpeal/anthropic-sdk#11',
    api,
    request: { sampling: { temperature: 0.3 } },
    replies: [refusalReply(400, '`temperature` is deprecated for this model.'), AT_NINE],
    expected: { text: 'At nine.', requests: 2, sent: { temperature: undefined } },
  },
  {
    name: 'Opus 5 thinks unless it is told not to, and then cannot be made to call',
    source: 'mastra-ai/mastra#7507',
    api,
    request: { tools: [TOOL], toolChoice: 'required' },
    replies: [
      refusalReply(400, 'Thinking may not be enabled when tool_choice forces tool use.'),
      messagesReply(toolBlock(0, 'toolu_1', TOOL.name, {}), { stopReason: 'tool_use' }),
    ],
    expected: {
      calls: [[TOOL.name, '{}']],
      requests: 2,
      sent: { 'thinking.type': 'disabled', 'tool_choice.type': 'any' },
    },
  },
  {
    name: 'A model that always thinks decides itself what it calls',
    source: 'can1357/oh-my-pi#341',
    api,
    request: { tools: [TOOL], toolChoice: 'required' },
    replies: [
      refusalReply(400, 'Thinking may not be enabled when tool_choice forces tool use.'),
      refusalReply(400, 'thinking.type: "disabled" is not supported for this model'),
      AT_NINE,
    ],
    expected: {
      text: 'At nine.',
      requests: 3,
      sent: { thinking: undefined, 'tool_choice.type': 'auto' },
    },
  },
  {
    name: 'The signature of a thinking block is that of another provider',
    source: 'thedotmack/claude-mem#3198',
    api,
    request: {
      tools: [TOOL],
      messages: [
        ASKED,
        call('a', [{ text: 'Hm.', signature: 'glm' }]),
        { role: 'tool', callId: 'a', content: 'Nine' },
      ],
    },
    replies: [
      refusalReply(400, 'messages.1.content.0: Invalid `signature` in `thinking` block'),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { 'messages.1.content.0.type': 'tool_use' } },
  },
  {
    name: 'The last answer must start with its thinking',
    source: 'n8n-io/n8n#22550',
    api,
    request: {
      tools: [TOOL],
      sampling: { effort: 'high' },
      messages: [ASKED, call('a'), { role: 'tool', callId: 'a', content: 'Nine' }],
    },
    replies: [
      refusalReply(
        400,
        'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).',
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { 'thinking.type': 'disabled' } },
  },
  {
    name: 'The ids of calls that Kimi made are refused',
    source: 'vybestack/llxprt-code#964',
    api,
    request: {
      tools: [TOOL],
      messages: [
        ASKED,
        call('functions.search:0'),
        { role: 'tool', callId: 'functions.search:0', content: 'Nine' },
      ],
    },
    replies: [AT_NINE],
    expected: {
      text: 'At nine.',
      sent: {
        'messages.1.content.0.id': 'functions_search_0',
        'messages.2.content.0.tool_use_id': 'functions_search_0',
      },
    },
  },
  {
    name: 'A call without its result is refused',
    source: 'anthropics/claude-code#7796',
    api,
    request: { tools: [TOOL], messages: [ASKED, call('a'), { role: 'user', content: 'And?' }] },
    replies: [AT_NINE],
    expected: { text: 'At nine.', sent: { 'messages.2.content.0.tool_use_id': 'a' } },
  },
  {
    name: 'A result without its call is refused',
    source: 'anthropics/claude-code#14643',
    api,
    request: {
      tools: [TOOL],
      messages: [{ role: 'tool', callId: 'a', content: 'Nine' }, ASKED],
    },
    replies: [AT_NINE],
    expected: {
      text: 'At nine.',
      sent: { 'messages.0.content.0.text': 'Result of a tool: Nine' },
    },
  },
  {
    name: 'Blank texts are refused',
    source: 'anomalyco/opencode#31259',
    api,
    request: { messages: [ASKED, { role: 'assistant', content: ' \n' }, ASKED] },
    replies: [AT_NINE],
    expected: { text: 'At nine.', sent: { 'messages.1': undefined } },
  },
  {
    name: 'Models since 4.6 do not continue an answer',
    source: 'vercel/ai#12296',
    api,
    request: { messages: [ASKED, { role: 'assistant', content: 'At ' }] },
    replies: [AT_NINE],
    expected: { text: 'At nine.', sent: { 'messages.2.role': 'user' } },
  },
  {
    name: 'Alternatives at the top of the schema of a tool are refused',
    source: 'software-mansion/argent#773',
    api,
    request: {
      tools: [{ ...TOOL, parameters: { ...TOOL.parameters, oneOf: [{ required: ['query'] }] } }],
    },
    replies: [AT_NINE],
    expected: { text: 'At nine.', sent: { 'tools.0.input_schema.oneOf': undefined } },
  },
  {
    name: 'The schema of an answer must be closed',
    source: 'veryfront/veryfront-code#3918',
    api,
    request: { sampling: JSON_ANSWER },
    replies: [answerReply('{"opens":9}')],
    expected: {
      text: '{"opens":9}',
      sent: { 'output_config.format.schema.additionalProperties': false },
    },
  },
  {
    name: 'An older model takes no schema of an answer',
    source: 'laurent22/joplin#15801',
    api,
    request: { sampling: JSON_ANSWER },
    replies: [
      refusalReply(400, 'output_config.format: structured outputs are not supported by this model'),
      answerReply('{"opens":9}'),
    ],
    expected: { text: '{"opens":9}', requests: 2, sent: { output_config: undefined } },
  },
  {
    name: 'A schema of an answer is too complex',
    source: 'anthropics/anthropic-sdk-python#1094',
    api,
    request: { sampling: { ...JSON_ANSWER, effort: 'low' } },
    replies: [refusalReply(400, 'Schema is too complex for compilation.'), answerReply('{}')],
    expected: { text: '{}', requests: 2, sent: { output_config: { effort: 'low' } } },
  },
  {
    name: 'The account has no credit, with the status of a bad request',
    source: 'continuedev/continue#11185',
    api,
    replies: [
      refusalReply(
        400,
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
    ],
    expected: { code: 'upstream_refused', message: /CHAT_API_KEY has no credit or quota left/ },
  },
  {
    name: 'The organization has used up its tokens of the minute',
    source: 'OpenHands/OpenHands#9259',
    api,
    replies: [
      refusalReply(
        429,
        'This request would exceed the rate limit for your organization of 20,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.',
        'rate_limit_error',
        { 'retry-after': '41' },
      ),
    ],
    expected: { code: 'upstream_rate_limited', message: /too many requests: try again in / },
  },
  {
    name: 'The servers are overloaded for a moment',
    source: 'anthropics/claude-code#35775',
    api,
    replies: [refusalReply(529, 'Overloaded', 'overloaded_error', NOW), AT_NINE],
    expected: { text: 'At nine.', requests: 2 },
  },
  {
    name: 'The servers are overloaded, and say so as an error of their own',
    source: 'anthropics/claude-code#8118',
    api,
    replies: [refusalReply(500, 'Overloaded', 'api_error', NOW)],
    expected: { code: 'upstream_failed', message: /failed \(500\)/, requests: 3 },
  },
  {
    name: 'The model is not known',
    source: 'docs.anthropic.com/en/api/errors',
    api,
    replies: [refusalReply(404, 'model: claude-next', 'not_found_error')],
    expected: { code: 'upstream_model_not_found', message: /check CHAT_MODEL/ },
  },
]
