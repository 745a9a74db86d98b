import type { ModelUsage } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { createRunBudget } from '../../../src/agent/run/budget.ts'
import { LIMITS } from './agent-for-test.ts'

/** A call of the model that this budget counts. */
async function spend(
  budget: ReturnType<typeof createRunBudget>,
  usage: ModelUsage | undefined,
  sentBytes = 0,
) {
  const end = await budget.meter.begin({ model: 'a-model', sentBytes })
  await end({ usage, sentBytes, receivedBytes: 0 })
}

describe('The budget of a run', () => {
  it('ends with its last round', () => {
    const budget = createRunBudget({ ...LIMITS, rounds: 3 })
    expect([1, 2, 3].map(() => budget.beginRound())).toEqual([undefined, undefined, 'rounds'])
  })

  it('ends with its only round', () => {
    expect(createRunBudget({ ...LIMITS, rounds: 1 }).beginRound()).toBe('rounds')
  })

  it('allows calls up to the limit, and reports it', () => {
    const budget = createRunBudget({ ...LIMITS, toolCalls: 5 })
    expect([budget.takeCalls(3), budget.reached()]).toEqual([3, []])
    expect([budget.takeCalls(3), budget.reached()]).toEqual([2, ['toolCalls']])
    expect(budget.takeCalls(1)).toBe(0)
    expect(budget.beginRound()).toBe('toolCalls')
  })

  it('allows no calls with a limit of 0, and reports it only if one is requested', () => {
    const budget = createRunBudget({ ...LIMITS, toolCalls: 0 })
    expect(budget.beginRound()).toBe('toolCalls')
    expect(budget.reached()).toEqual([])
    expect(budget.takeCalls(1)).toBe(0)
    expect(budget.reached()).toEqual(['toolCalls'])
  })

  it('counts the tokens that models report', async () => {
    const budget = createRunBudget({ ...LIMITS, tokens: 1_000 })
    await spend(budget, { promptTokens: 900, completionTokens: 99 }, 1_000_000)
    expect(budget.beginRound()).toBeUndefined()
    await spend(budget, { promptTokens: 1, completionTokens: 0 })
    expect(budget.beginRound()).toBe('tokens')
  })

  it('adds up the parts of the tokens, each if any call reports it', async () => {
    const budget = createRunBudget(LIMITS)
    const usage = { promptTokens: 10, completionTokens: 5 }
    await spend(budget, usage)
    expect(budget.usage()).toEqual({ ...usage, totalTokens: 15 })
    await spend(budget, { ...usage, cachedTokens: 8, reasoningTokens: 3 })
    await spend(budget, { ...usage, cachedTokens: 1, cacheWriteTokens: 0 })
    expect(budget.usage()).toEqual({
      promptTokens: 30,
      completionTokens: 15,
      totalTokens: 45,
      cachedTokens: 9,
      cacheWriteTokens: 0,
      reasoningTokens: 3,
    })
  })

  it('estimates the tokens of models that report none', async () => {
    const budget = createRunBudget({ ...LIMITS, tokens: 1_000 })
    await spend(budget, undefined, 3_400)
    expect(budget.beginRound()).toBeUndefined()
    await spend(budget, undefined, 600)
    expect(budget.beginRound()).toBe('tokens')
  })

  it('names each limit once', () => {
    const budget = createRunBudget(LIMITS)
    for (const name of ['seconds', 'rounds', 'seconds'] as const) budget.note(name)
    expect(budget.reached()).toEqual(['seconds', 'rounds'])
  })

  it('has time at first', () => {
    using budget = createRunBudget(LIMITS)
    const { toolTime, answerTime } = budget
    expect([toolTime.isOver, answerTime.isOver]).toEqual([false, false])
  })
})
