import { answerReply, refusalReply } from '../../../../test/support/messages-replies.ts'
import type { ModelRequest, ReasoningPart } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { DETAILED_TOOL, type Recorded, WITH_IMAGE } from './recorded.ts'

const NONE = 'invented: like others, but reported by nobody'
const call = { callId: 'call_1', name: TOOL.name, arguments: '{"query":"hours"}' }
const reasoned = (part: ReasoningPart): Partial<ModelRequest> => ({
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls: [call], reasoning: [part] },
    { role: 'tool', callId: 'call_1', content: 'At nine.' },
  ],
})
const BLOCK: ReasoningPart = { form: 'block', text: 'Hm.', signature: 'c2ln' }
const NINE = answerReply('At nine')
const messages = 'messages' as const
const ONCE = { text: 'At nine', requests: 1 }
const TWICE = { text: 'At nine', requests: 2 }
const ends = (content: string): Partial<ModelRequest> => ({
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content },
  ],
})
const withoutResult: Partial<ModelRequest> = {
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'user', content: 'Never mind. When?' },
  ],
}
const withEmpty: Partial<ModelRequest> = {
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '' },
    { role: 'user', content: 'When?' },
  ],
}

export const RECORDED: readonly Recorded[] = [
  {
    name: 'An empty answer is left out of a conversation in Messages',
    source: 'anthropics/claude-code#59812',
    api: messages,
    request: withEmpty,
    replies: [NINE],
    expected: { ...ONCE, sent: { 'messages.length': 1 } },
  },
  {
    name: 'A blank answer is left out of a conversation in Messages',
    source: 'anthropics/claude-code#23440',
    api: messages,
    request: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: ' \n ' },
        { role: 'user', content: 'When?' },
      ],
    },
    replies: [NINE],
    expected: { ...ONCE, sent: { 'messages.length': 1 } },
  },
  {
    name: 'Claude continues no answer',
    source: 'smallmain/vscode-unify-chat-provider#249',
    api: messages,
    request: ends('At'),
    replies: [NINE],
    expected: { ...ONCE, sent: { 'messages.2.role': 'user' } },
  },
  {
    name: 'Claude takes no blank at the end of the last answer',
    source: NONE,
    api: messages,
    request: ends('At '),
    replies: [NINE],
    expected: ONCE,
  },
  {
    name: 'A call in Messages has no result',
    source: 'aliasrobotics/cai#182',
    api: messages,
    request: withoutResult,
    replies: [NINE],
    expected: { ...ONCE, sent: { 'messages.2.content.0.type': 'tool_result' } },
  },
  {
    name: 'Claude refuses the signature of earlier thinking',
    source: NONE,
    api: messages,
    request: reasoned(BLOCK),
    replies: [
      refusalReply(400, 'messages.1.content.0: Invalid `signature` in `thinking` block'),
      NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'Claude misses thinking as it was',
    source: NONE,
    api: messages,
    request: reasoned(BLOCK),
    replies: [
      refusalReply(
        400,
        'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
      ),
      NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'Claude refuses an image that is too large',
    source: NONE,
    api: messages,
    request: WITH_IMAGE,
    replies: [
      refusalReply(
        400,
        'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes',
      ),
    ],
    expected: { code: 'upstream_refused', message: /5 MB/ },
  },
  {
    name: 'Claude takes no temperature while it thinks',
    source: NONE,
    api: messages,
    request: { sampling: { temperature: 0.3, effort: 'high' } },
    replies: [
      refusalReply(
        400,
        '`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation',
      ),
      NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'Claude takes fewer marks of its cache',
    source: NONE,
    api: messages,
    replies: [
      refusalReply(400, 'A maximum of 4 blocks with cache_control may be provided. Found 5.'),
      NINE,
    ],
    expected: TWICE,
  },
  {
    name: 'A server of Messages knows no output_config',
    source: NONE,
    api: messages,
    request: {
      sampling: {
        format: {
          type: 'json-schema',
          name: 'a',
          schema: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
    },
    replies: [refusalReply(400, 'output_config: Extra inputs are not permitted'), NINE],
    expected: TWICE,
  },
  {
    name: 'A server of Messages refuses a detailed schema of a tool',
    source: NONE,
    api: messages,
    request: { tools: [DETAILED_TOOL] },
    replies: [
      refusalReply(
        400,
        'tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12',
      ),
      NINE,
    ],
    expected: TWICE,
  },
]
