import { createBudget } from '@agent-server/lib/budget.ts'
import { describe, expect, it } from 'vitest'

const never = () => new AbortController().signal

const stateOf = async (waiting: Promise<unknown>) =>
  Promise.race([
    waiting.then(
      () => 'room',
      (error: Error) => error.message,
    ),
    new Promise((resolve) => setImmediate(resolve, 'waiting')),
  ])

describe('There is room', () => {
  it('until the bound is reached, which the last text may exceed', async () => {
    const budget = createBudget(100)
    budget.hold(99)
    expect(await stateOf(budget.room(never()))).toBe('room')
    budget.hold(1_000)
    expect(await stateOf(budget.room(never()))).toBe('waiting')
  })

  it('for all waiting callers once enough is released', async () => {
    const budget = createBudget(100)
    const releases = [budget.hold(80), budget.hold(80)]
    const waiting = [budget.room(never()), budget.room(never())]
    expect(await Promise.all(waiting.map(stateOf))).toEqual(['waiting', 'waiting'])
    releases[0]?.()
    expect(await Promise.all(waiting.map(stateOf))).toEqual(['room', 'room'])
  })

  it('not until enough is released', async () => {
    const budget = createBudget(100)
    const release = budget.hold(10)
    budget.hold(100)
    const waiting = budget.room(never())
    release()
    expect(await stateOf(waiting)).toBe('waiting')
  })

  it('not for a caller that hung up', async () => {
    const budget = createBudget(1)
    budget.hold(1)
    const leaving = new AbortController()
    const waiting = budget.room(leaving.signal)
    leaving.abort(new Error('gone'))
    expect(await stateOf(waiting)).toBe('gone')
    expect(await stateOf(budget.room(AbortSignal.abort(new Error('gone before'))))).toBe(
      'gone before',
    )
  })
})
