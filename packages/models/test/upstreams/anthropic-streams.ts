import {
  answerReply,
  block,
  messageEnd,
  messageStart,
  messagesEvent,
  messagesReply,
  textBlock,
  thinkingBlock,
  toolBlock,
} from '../../../../test/support/messages-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import type { Recorded } from './recorded.ts'

const api = 'messages'
const AT_NINE = answerReply('At nine.')

export const RECORDED: readonly Recorded[] = [
  {
    name: 'The stream breaks off with an error after its first words',
    source: 'farzaa/clicky#132',
    api,
    replies: [
      {
        steps: [
          messageStart(),
          ...textBlock(0, 'Partial'),
          messagesEvent('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
        ],
      },
    ],
    expected: { code: 'upstream_failed', message: /overloaded or not ready/ },
  },
  {
    name: 'The stream begins with an error',
    source: 'anthropics/anthropic-sdk-typescript#346',
    api,
    replies: [
      {
        steps: [
          messagesEvent('error', {
            error: { details: null, type: 'overloaded_error', message: 'Overloaded' },
          }),
        ],
      },
      AT_NINE,
    ],
    expected: { text: 'At nine.', requests: 2 },
  },
  {
    name: 'A classifier refuses before the first word, ending a block that never began',
    source: 'mirrorange/clove#36',
    api,
    replies: [
      {
        steps: [
          messageStart(),
          messagesEvent('content_block_stop', { index: 0 }),
          ...messageEnd('refusal'),
        ],
      },
    ],
    expected: { text: '', reason: 'content_filter' },
  },
  {
    name: 'The thinking of an answer fills its limit',
    source: 'LiveBench/LiveBench#425',
    api,
    replies: [messagesReply(thinkingBlock(0, 'Hm.', 'c2ln'), { stopReason: 'max_tokens' })],
    expected: { text: '', reason: 'length' },
  },
  {
    name: 'The signature comes apart from the thinking, and some thinking is hidden',
    source: 'agentjido/req_llm#626',
    api,
    request: { tools: [TOOL] },
    replies: [
      messagesReply(
        [
          ...block(
            0,
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'signature_delta', signature: 'c2ln' },
          ),
          ...toolBlock(1, 'toolu_1', TOOL.name, { query: 'hours' }),
        ],
        { stopReason: 'tool_use' },
      ),
    ],
    expected: { calls: [[TOOL.name, '{"query":"hours"}']], reason: 'tool_calls' },
  },
]
