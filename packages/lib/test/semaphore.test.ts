import { createBudget, createSemaphore } from '@agent-server/lib/semaphore.ts'
import { describe, expect, it } from 'vitest'

const { signal } = new AbortController()

function createWork() {
  const held = Promise.withResolvers<string>()
  let begun = 0
  return {
    held,
    begun: () => begun,
    work: () => {
      begun += 1
      return held.promise
    },
  }
}

describe('A semaphore', () => {
  it('admits a fixed number at once, and the others in order', async () => {
    const semaphore = createSemaphore(1, 5)
    const [first, second] = [createWork(), createWork()]
    const all = [semaphore.run(first.work, signal), semaphore.run(second.work, signal)]
    await new Promise(setImmediate)
    expect([first.begun(), second.begun()]).toEqual([1, 0])
    first.held.resolve('first')
    second.held.resolve('second')
    expect(await Promise.all(all)).toEqual(['first', 'second'])
  })

  it('is free again after work that failed', async () => {
    const semaphore = createSemaphore(1, 0)
    await expect(semaphore.run(() => Promise.reject(new Error('broken')), signal)).rejects.toThrow()
    expect(await semaphore.run(async () => 'next', signal)).toBe('next')
  })

  it('refuses a caller if the queue is full', async () => {
    const semaphore = createSemaphore(1, 0)
    const { held, work } = createWork()
    const first = semaphore.run(work, signal)
    await expect(semaphore.run(work, signal)).rejects.toThrow(RangeError)
    held.resolve('done')
    await first
  })

  it('lets a waiting caller leave, without losing a turn', async () => {
    const semaphore = createSemaphore(1, 5)
    const { held, work } = createWork()
    const first = semaphore.run(work, signal)
    const leaving = new AbortController()
    const second = semaphore.run(work, leaving.signal)
    const third = semaphore.run(async () => 'third', signal)
    leaving.abort(new Error('gone'))
    await expect(second).rejects.toThrow('gone')
    held.resolve('done')
    await first
    expect(await third).toBe('third')
  })

  it('gives owners turns, however many calls one of them queues', async () => {
    const semaphore = createSemaphore(1)
    const begun: string[] = []
    const run = (name: string, owner?: string) =>
      semaphore.run(async () => begun.push(name), signal, owner)
    const { held, work } = createWork()
    const first = semaphore.run(work, signal, 'a')
    const many = ['a1', 'a2', 'a3', 'a4'].map((name) => run(name, 'a'))
    const others = [run('b1', 'b'), run('b2', 'b'), run('of nobody')]
    held.resolve('done')
    await Promise.all([first, ...many, ...others])
    expect(begun).toEqual(['a1', 'b1', 'of nobody', 'a2', 'b2', 'a3', 'a4'])
  })

  it('gives one owner half of the permits and of the queue at most', async () => {
    const semaphore = createSemaphore(4, 4)
    const { held, work, begun } = createWork()
    const ofOne = [1, 2, 3, 4].map(() => semaphore.run(work, signal, 'a'))
    await new Promise(setImmediate)
    expect(begun()).toBe(2)
    await expect(semaphore.run(work, signal, 'a')).rejects.toThrow(RangeError)
    expect(await semaphore.run(async () => 'at once', signal, 'b')).toBe('at once')
    held.resolve('done')
    expect(await Promise.all(ofOne)).toEqual(['done', 'done', 'done', 'done'])
    expect(begun()).toBe(4)
  })
})

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
