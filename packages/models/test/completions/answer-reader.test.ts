import { expect, it } from 'vitest'
import { createAnswerReader } from '../../src/completions/answer-reader.ts'

const CALL = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } }

it.each([
  ['a call', [{ tool_calls: [{ index: 0, ...CALL }] }], { content: null, tool_calls: [CALL] }],
  [
    'thinking alone',
    [{ reasoning_content: 'Hm' }],
    { reasoning_content: 'Hm', content: 'At nine' },
  ],
  [
    'everything',
    [{ reasoning_content: 'Hm' }, { content: 'At nine' }, { tool_calls: [{ index: 0, ...CALL }] }],
    { reasoning_content: 'Hm', content: 'At nine', tool_calls: [CALL] },
  ],
  ['text alone', [{ content: 'At nine' }], { content: 'At nine', tool_calls: [CALL] }],
])('takes only what is missing from a whole message after deltas of %s', (_, deltas, message) => {
  const reader = createAnswerReader({ offered: new Set(['find']), isThinkingOpen: false })
  const chunks = [...deltas.map((delta) => ({ delta })), { message, finish_reason: 'stop' }]
  const events = chunks.flatMap((choice) => [...reader.read({ choices: [choice] })])
  const written = JSON.stringify([events, [...reader.ending()]])
  const times = (word: string) => written.split(word).length - 1
  expect(times('At nine')).toBe('content' in message && message.content ? 1 : 0)
  // Shown once, and with a call once more in what the provider gets back.
  const thoughts = 'tool_calls' in message ? 2 : 1
  expect(times('Hm')).toBe('reasoning_content' in message ? thoughts : 0)
  expect(times('call_1')).toBe('tool_calls' in message ? 1 : 0)
  expect(times('"find"')).toBe('tool_calls' in message ? 1 : 0)
})
