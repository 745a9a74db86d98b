import { answerReply, refusalReply } from '../../../../test/support/messages-replies.ts'
import { errorReply, jsonReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import type { Recorded } from './recorded.ts'

const api = 'messages'
const AT_NINE = answerReply('At nine.')
/** Bedrock's words for what the model itself refuses, as gateways pass them on. */
const theModel = (words: string) => `The model returned the following errors: ${words}`

export const RECORDED: readonly Recorded[] = [
  {
    name: 'Bedrock allows fewer tokens than the model itself',
    source: 'RooCodeInc/Roo-Code#248',
    api,
    replies: [
      jsonReply(
        {
          message:
            'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
        },
        400,
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 4_096 } },
  },
  {
    name: 'Bedrock says no more than the limit',
    source: 'charmbracelet/crush#946',
    api,
    request: { sampling: { maxTokens: 50_000 } },
    replies: [
      jsonReply(
        { message: 'The maximum tokens you requested exceeds the model limit of 32768' },
        400,
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 32_768 } },
  },
  {
    name: 'Bedrock counts the answer to come as part of an odd window',
    source: 'RooCodeInc/Roo-Code#3713',
    api,
    replies: [
      jsonReply(
        {
          message: theModel(
            'input length and `max_tokens` exceed context limit: 196395 + 32000 > 204698, decrease input length or `max_tokens` and try again',
          ),
        },
        400,
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { max_tokens: 8_303 } },
  },
  {
    name: 'Bedrock refuses marks for the cache',
    source: 'UKGovernmentBEIS/inspect_ai#3851',
    api,
    request: { messages: [{ role: 'system', content: 'Be brief.' }] },
    replies: [
      jsonReply({ message: 'system.0.cache_control: Extra inputs are not permitted' }, 400),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { system: 'Be brief.' } },
  },
  {
    name: 'Bedrock has used up the tokens of the minute',
    source: 'anthropics/claude-code#236',
    api,
    replies: [
      jsonReply({ message: 'Too many tokens, please wait before trying again.' }, 429, {
        'retry-after': '30',
      }),
    ],
    expected: { code: 'upstream_rate_limited', message: /try again in / },
  },
  {
    name: 'Bedrock wants the profile of a model instead of its name',
    source: 'anthropics/claude-code#1466',
    api,
    replies: [
      jsonReply(
        {
          message:
            'Invocation of model ID anthropic.claude-sonnet-4-20250514-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
        },
        400,
      ),
    ],
    expected: { code: 'upstream_refused', message: /inference profile that contains this model/ },
  },
  {
    name: 'Bedrock wants the tools of calls that were made before',
    source: 'elastic/kibana#246943',
    api,
    request: {
      messages: [
        { role: 'user', content: 'When?' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ callId: 'a', name: TOOL.name, arguments: '{}' }],
        },
        { role: 'tool', callId: 'a', content: 'Nine' },
      ],
    },
    replies: [AT_NINE],
    expected: { text: 'At nine.', sent: { 'messages.0.content.1.text': 'Result of a tool: Nine' } },
  },
  {
    name: 'Bedrock thinks, and cannot be made to call',
    source: 'usestrix/strix#503',
    api,
    request: { tools: [TOOL], toolChoice: { name: TOOL.name }, sampling: { effort: 'high' } },
    replies: [
      refusalReply(
        400,
        theModel('Thinking may not be enabled when tool_choice forces tool use.'),
        'api_error',
      ),
      AT_NINE,
    ],
    expected: {
      text: 'At nine.',
      requests: 2,
      sent: { 'tool_choice.type': 'tool', 'thinking.type': 'disabled' },
    },
  },
  {
    name: 'Bedrock takes no temperature with Opus 4.7',
    source: 'tinovyatkin/amazon-bedrock-copilot-chat#546',
    api,
    request: { sampling: { temperature: 0 } },
    replies: [
      errorReply(
        400,
        theModel(
          '{"type":"error","error":{"type":"invalid_request_error","message":"temperature is deprecated for this model."}}',
        ),
      ),
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2, sent: { temperature: undefined } },
  },
]
