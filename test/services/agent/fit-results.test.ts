import { describe, expect, it } from 'vitest'
import type { ModelMessage } from '../../../src/models/chat-model.ts'
import { sizeOfMessages } from '../../../src/models/token-estimate.ts'
import { fitResults } from '../../../src/services/agent/prompt.ts'

const WINDOW = 2_500
const ROOM = WINDOW * 4 * 0.8

const question: ModelMessage = { role: 'user', content: 'q'.repeat(100) }
const round = (...sizes: number[]): ModelMessage[] => [
  { role: 'assistant', content: '' },
  ...sizes.map((size, index) => ({
    role: 'tool' as const,
    callId: String(index),
    content: 'x'.repeat(size),
  })),
]
const lengths = (messages: readonly ModelMessage[]) =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content.length)

describe('results of tools', () => {
  it('stay as they are where all fit', () => {
    const messages = [question, ...round(3_000), ...round(3_000)]
    expect(fitResults(messages, WINDOW)).toEqual(messages)
  })

  it('make room from the oldest on', () => {
    const messages = [question, ...round(4_000), ...round(4_000), ...round(3_000)]
    const [first, second, third] = lengths(fitResults(messages, WINDOW))
    expect(first).toBeLessThan(500)
    expect([second, third]).toEqual([4_000, 3_000])
  })

  it('of the latest round are cut evenly, when nothing else is left to cut', () => {
    const messages = [question, ...round(5_000), ...round(9_000, 9_000)]
    const fitted = fitResults(messages, WINDOW)
    const [old, first = 0, second = 0] = lengths(fitted)
    expect(old).toBeLessThan(500)
    expect(first).toBe(second)
    expect(first).toBeGreaterThan(3_000)
    expect(sizeOfMessages(fitted)).toBeLessThan(ROOM * 1.05)
  })

  it('in scripts that take more bytes are cut to the same size', () => {
    const messages = [question, ...round(20_000)].map((message) => ({
      ...message,
      content: message.content.replaceAll('x', '鳥'),
    }))
    const fitted = fitResults(messages, WINDOW)
    expect(lengths(fitted)[0]).toBeGreaterThan(2_000)
    expect(sizeOfMessages(fitted)).toBeLessThan(ROOM * 1.05)
  })

  it('that are short stay whole beside long ones of the same round', () => {
    const [, short] = fitResults([...round(100, 20_000)], WINDOW)
    expect(short?.content).toBe('x'.repeat(100))
  })

  it('say how much of them is missing', () => {
    const [, , result] = fitResults([question, ...round(20_000)], WINDOW)
    expect(result?.content).toMatch(/\[cut to fit the model's window: \d+ more characters\]$/)
  })

  it('are the only messages that are cut', () => {
    const long: ModelMessage = { role: 'user', content: 'q'.repeat(50_000) }
    expect(fitResults([long, ...round(10)], WINDOW)[0]).toEqual(long)
  })
})
