import type { ReasoningPart } from '@agent-server/models'
import { fromOpaque, toOpaque } from '@agent-server/wire'
import { expect, it } from 'vitest'

it.each<[string, ReasoningPart]>([
  ['text', { form: 'content', text: 'Hm.' }],
  ['of OpenRouter', { form: 'detail', detail: { type: 'reasoning.encrypted', data: 'x' } }],
  ['of Responses', { form: 'item', id: 'rs_1', data: 'x', summary: ['Hm.'] }],
  ['of Messages', { form: 'block', text: 'Hm.', signature: 'x' }],
  ['of Messages, without a signature', { form: 'block', text: 'Hm.', signature: '' }],
  ['of Messages, hidden', { form: 'block', signature: 'x' }],
])('Reasoning %s comes back from a client as it was', (_case, part) => {
  expect(fromOpaque(toOpaque([part]))).toEqual([part])
})
