import {
  answerReply,
  block,
  messageEnd,
  messageStart,
  messagesEvent,
  messagesReply,
  refusalReply,
  textBlock,
} from '../../../../test/support/messages-replies.ts'
import { responseEvent, responseReply } from '../../../../test/support/responses-replies.ts'
import { rawReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { type Recorded, WITH_IMAGE, WITH_RULES, WITH_TOOLS } from './recorded.ts'

const responses = 'responses' as const
const messages = 'messages' as const
const NONE = 'invented: like others, but reported by nobody'
const IN_MESSAGES = answerReply('At nine'),
  IN_RESPONSES = responseReply({ texts: ['At nine'] })
const ONCE = { text: 'At nine' }
const TWICE = { text: 'At nine', requests: 2 }
const CALLED = { calls: [[TOOL.name, '{"query":"hours"}']] as const, reason: 'tool_calls' }
export const RECORDED: readonly Recorded[] = [
  {
    name: 'Reasoning in Responses has the event of older servers',
    source: NONE,
    api: responses,
    replies: [
      {
        steps: [responseEvent('response.reasoning.delta', { delta: 'Hm.' }), ...IN_RESPONSES.steps],
      },
    ],
    expected: { ...ONCE, reasoning: 'Hm.' },
  },
  {
    name: 'A summary in Responses has the event of older servers',
    source: NONE,
    api: responses,
    replies: [
      {
        steps: [
          responseEvent('response.reasoning_summary.delta', { delta: 'Hm.' }),
          ...IN_RESPONSES.steps,
        ],
      },
    ],
    expected: { ...ONCE, reasoning: 'Hm.' },
  },
  {
    name: 'An event of Responses has its type beside the data',
    source: NONE,
    api: responses,
    replies: [
      rawReply(
        'event: response.output_text.delta\ndata: {"delta":"At nine"}\n\nevent: response.completed\ndata: {"response":{"status":"completed","output":[]}}\n\n',
      ),
    ],
    expected: ONCE,
  },
  {
    name: 'An event of Messages has its type beside the data',
    source: NONE,
    api: messages,
    replies: [
      rawReply(
        'event: content_block_delta\ndata: {"index":0,"delta":{"type":"text_delta","text":"At nine"}}\n\nevent: message_delta\ndata: {"delta":{"stop_reason":"end_turn"}}\n\nevent: message_stop\ndata: {}\n\n',
      ),
    ],
    expected: ONCE,
  },
  {
    name: 'An answer in Messages has no usage',
    source: NONE,
    api: messages,
    replies: [
      {
        steps: [
          messagesEvent('message_start', { message: { id: 'a' } }),
          ...textBlock(0, 'At nine'),
          messagesEvent('message_delta', { delta: { stop_reason: 'end_turn' } }),
          messagesEvent('message_stop'),
        ],
      },
    ],
    expected: ONCE,
  },
  {
    name: 'A block in Messages has no start',
    source: NONE,
    api: messages,
    replies: [
      {
        steps: [
          messageStart(),
          messagesEvent('content_block_delta', {
            index: 0,
            delta: { type: 'text_delta', text: 'At nine' },
          }),
          ...messageEnd(),
        ],
      },
    ],
    expected: ONCE,
  },
  {
    name: 'The input of a tool is whole at the start of its block',
    source: NONE,
    api: messages,
    request: WITH_TOOLS,
    replies: [
      messagesReply(
        block(0, { type: 'tool_use', id: 't', name: TOOL.name, input: { query: 'hours' } }),
        { stopReason: 'tool_use' },
      ),
    ],
    expected: CALLED,
  },
  {
    name: 'A call in Messages has no id',
    source: NONE,
    api: messages,
    request: WITH_TOOLS,
    replies: [
      messagesReply(
        block(
          0,
          { type: 'tool_use', name: TOOL.name, input: {} },
          { type: 'input_json_delta', partial_json: '{"query":"hours"}' },
        ),
        { stopReason: 'tool_use' },
      ),
    ],
    expected: CALLED,
  },
  {
    name: 'The input of a tool comes as an object',
    source: NONE,
    api: messages,
    request: WITH_TOOLS,
    replies: [
      messagesReply(
        block(
          0,
          { type: 'tool_use', id: 't', name: TOOL.name, input: {} },
          { type: 'input_json_delta', partial_json: { query: 'hours' } },
        ),
        { stopReason: 'tool_use' },
      ),
    ],
    expected: CALLED,
  },
  {
    name: 'A turn in Messages pauses',
    source: NONE,
    api: messages,
    replies: [answerReply('At nine', { stopReason: 'pause_turn' })],
    expected: { ...ONCE, reason: 'stop' },
  },
  {
    name: 'An answer in Messages has no reason to stop',
    source: NONE,
    api: messages,
    replies: [answerReply('At nine', { stopReason: null })],
    expected: { ...ONCE, reason: 'stop' },
  },
  {
    name: 'The budget of thinking is above the limit of the answer',
    source: NONE,
    api: messages,
    request: { sampling: { effort: 'high', maxTokens: 2_000 } },
    replies: [
      refusalReply(
        400,
        '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation',
      ),
      IN_MESSAGES,
    ],
    expected: TWICE,
  },
  {
    name: 'A model in Messages takes no effort',
    source: NONE,
    api: messages,
    request: { sampling: { effort: 'high' } },
    replies: [refusalReply(400, 'This model does not support the effort parameter.'), IN_MESSAGES],
    expected: TWICE,
  },
  {
    name: 'A server of Messages takes the system message as a string',
    source: NONE,
    api: messages,
    request: WITH_RULES,
    replies: [refusalReply(400, 'system: Input should be a valid string'), IN_MESSAGES],
    expected: TWICE,
  },
  {
    name: 'A server of Messages knows no images',
    source: NONE,
    api: messages,
    request: WITH_IMAGE,
    replies: [
      refusalReply(
        400,
        "messages.0.content.0: Input tag 'image' found using 'type' does not match any of the expected tags: 'text', 'tool_use', 'tool_result'",
      ),
      IN_MESSAGES,
    ],
    expected: TWICE,
  },
  {
    name: 'A server of Messages knows no tools',
    source: NONE,
    api: messages,
    request: WITH_TOOLS,
    replies: [refusalReply(400, 'tools: Extra inputs are not permitted'), IN_MESSAGES],
    expected: TWICE,
  },
  {
    name: 'A blank stop sequence is not sent in Messages',
    source: NONE,
    api: messages,
    request: { sampling: { stop: [' ', 'END'] } },
    replies: [IN_MESSAGES],
    expected: { ...ONCE, sent: { stop_sequences: ['END'] } },
  },
  {
    name: 'A model in Messages takes one of temperature and top_p',
    source: NONE,
    api: messages,
    request: { sampling: { temperature: 0.5, topP: 0.9 } },
    replies: [
      refusalReply(
        400,
        '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
      ),
      IN_MESSAGES,
    ],
    expected: TWICE,
  },
]
