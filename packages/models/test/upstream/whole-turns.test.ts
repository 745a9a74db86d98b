import { expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'
import type { ModelMessage } from '../../src/chat-model.ts'
import { wholeTurns } from '../../src/upstream/whole-turns.ts'

const ABILITIES = { continues: true, bareCalls: true }

/** An answer with so many calls, and their results, the last one first. */
function conversation(calls: number): ModelMessage[] {
  const ids = Array.from({ length: calls }, (_, at) => `call_${at}`)
  const toolCalls = ids.map((callId) => ({ callId, name: 'look', arguments: '{}' }))
  return [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls },
    ...ids.toReversed().map((callId) => ({ role: 'tool' as const, callId, content: callId })),
  ]
}

it('Results follow their calls, in the order of these', () => {
  const turns = wholeTurns(conversation(3), true, ABILITIES)
  const contents = turns.slice(2).map(({ content }) => content)
  expect(contents).toEqual(['call_0', 'call_1', 'call_2'])
})

it('A result that came before its call is sent as the user’s text', () => {
  const again = { role: 'tool' as const, callId: 'call_0', content: 'once more' }
  const turns = wholeTurns([...conversation(1), again], true, ABILITIES)
  expect(turns.slice(2)).toEqual([
    { role: 'tool', callId: 'call_0', content: 'call_0' },
    { role: 'user', content: 'Result of a tool: once more' },
  ])
})

it('Forty thousand calls in one answer cost no second', () => {
  const messages = conversation(40_000)
  const began = processorMs()
  expect(wholeTurns(messages, true, ABILITIES)).toHaveLength(messages.length)
  expect(processorMs() - began).toBeLessThan(1_000)
})
