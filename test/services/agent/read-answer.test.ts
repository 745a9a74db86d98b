import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../../src/models/chat-model.ts'
import { createCitationCheck } from '../../../src/services/agent/citation-check.ts'
import { createLinkFilter } from '../../../src/services/agent/link-filter.ts'
import { type Answer, createSpacing, readAnswer } from '../../../src/services/agent/model-turn.ts'
import { inBatches } from '../../support/batches.ts'
import { asks, finish, says, toDelta, toolCall } from './scripted-model.ts'

const going = new AbortController().signal
const gone = AbortSignal.abort(new Error('over'))
const inTime = { isOver: false }
const late = { isOver: true }

async function* play(events: readonly ModelEvent[], failure?: Error): AsyncGenerator<ModelEvent[]> {
  yield* inBatches(events)
  if (failure) throw failure
}

async function relay(
  events: AsyncGenerator<ModelEvent[]>,
  ends: { answerTime?: { isOver: boolean }; signal?: AbortSignal } = {},
  texts: string[] = [],
): Promise<{ texts: string[]; answer: Answer }> {
  const reader = readAnswer(() => events, {
    citations: createCitationCheck({ has: (number) => number === 1, onUnknown: () => undefined }),
    spacing: createSpacing(),
    links: createLinkFilter('all', () => false),
    onText: (text) => void texts.push(text),
    ...{ answerTime: inTime, signal: going, shortcut: undefined, ...ends },
  })
  for (;;) {
    const { done, value } = await reader.next()
    if (done) return { texts, answer: value }
  }
}

describe('An answer of a model', () => {
  it('is passed on as it comes, and kept whole', async () => {
    const { texts, answer } = await relay(play(says('At ', 'nine.')))
    expect(texts).toEqual(['At ', 'nine.'])
    expect(answer).toEqual({ text: 'At nine.', calls: [], reason: 'stop', usage: undefined })
  })

  it('has its calls and its usage', async () => {
    const usage = { promptTokens: 1, completionTokens: 2 }
    const events = [...asks(toolCall('look')).slice(0, 1), finish('tool_calls', usage)]
    const { answer } = await relay(play(events))
    expect(answer).toMatchObject({ calls: [toolCall('look')], reason: 'stop', usage })
  })

  it.each(['length', 'content_filter'] as const)('may end with %s', async (reason) => {
    expect((await relay(play([finish(reason)]))).answer.reason).toBe(reason)
  })

  it('that is cut at the end of its time stands as it is', async () => {
    const cut = play([toDelta('At ')], new Error('over'))
    const { texts, answer } = await relay(cut, { answerTime: late })
    expect(texts).toEqual(['At '])
    expect(answer).toMatchObject({ text: 'At ', reason: 'time_limit' })
  })

  it('is passed on with its citations checked, and kept as the model wrote it', async () => {
    const { texts, answer } = await relay(play(says('At nine [1', '], at ten [', '7].')))
    expect(texts).toEqual(['At nine ', '[1], at ten ', '[?].'])
    expect(answer.text).toBe('At nine [1], at ten [7].')
  })

  it('that breaks off is passed on to its very end', async () => {
    const texts: string[] = []
    const broken = play([toDelta('At [7')], new Error('broken'))
    await expect(relay(broken, {}, texts)).rejects.toThrow('broken')
    expect(texts).toEqual(['At ', '[7'])
  })

  it.each([
    ['in time', { answerTime: inTime }],
    ['for a caller who left', { answerTime: late, signal: gone }],
  ])('that fails %s fails', async (_case, ends) => {
    const failure = new Error('broken')
    await expect(relay(play([], failure), ends)).rejects.toBe(failure)
  })
})
