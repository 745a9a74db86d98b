import type { ModelMessage } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'

export const ASKED: ModelMessage = { role: 'user', content: 'When does the library open?' }
export const MARK = { cache_control: { type: 'ephemeral' } }

/** A conversation after one call, with the reasoning that led to it. */
export const afterCall = (...more: ModelMessage[]): ModelMessage[] => [
  ASKED,
  {
    role: 'assistant',
    content: 'I look.',
    toolCalls: [{ callId: 'toolu_1', name: TOOL.name, arguments: '{"query":"hours"}' }],
    reasoning: [
      { form: 'block', text: 'The hours, then.', signature: 'c2lnbmVk' },
      { form: 'block', signature: 'aGlkZGVu' },
      { form: 'content', text: 'of another provider' },
    ],
  },
  { role: 'tool', callId: 'toolu_1', content: 'Open from 9' },
  ...more,
]
