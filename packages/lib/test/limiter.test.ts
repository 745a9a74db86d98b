import { createLimiter } from '@agent-server/lib/limiter.ts'
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

describe('A limiter', () => {
  it('admits a fixed number at once, and the others in order', async () => {
    const limiter = createLimiter({ name: 'test', capacity: 1, maxWaiting: 5 })
    const [first, second] = [createWork(), createWork()]
    const all = [
      limiter.run(undefined, first.work, signal),
      limiter.run(undefined, second.work, signal),
    ]
    await new Promise(setImmediate)
    expect([first.begun(), second.begun()]).toEqual([1, 0])
    first.held.resolve('first')
    second.held.resolve('second')
    expect(await Promise.all(all)).toEqual(['first', 'second'])
  })

  it('is free again after work that failed', async () => {
    const limiter = createLimiter({ name: 'test', capacity: 1, maxWaiting: 0 })
    await expect(
      limiter.run(undefined, () => Promise.reject(new Error('broken')), signal),
    ).rejects.toThrow()
    expect(await limiter.run(undefined, async () => 'next', signal)).toBe('next')
  })

  it('refuses a caller if the queue is full', async () => {
    const limiter = createLimiter({ name: 'test', capacity: 1, maxWaiting: 0 })
    const { held, work } = createWork()
    const first = limiter.run(undefined, work, signal)
    await expect(limiter.run(undefined, work, signal)).rejects.toThrow(RangeError)
    held.resolve('done')
    await first
  })

  it('lets a waiting caller leave, without losing a turn', async () => {
    const limiter = createLimiter({ name: 'test', capacity: 1, maxWaiting: 5 })
    const { held, work } = createWork()
    const first = limiter.run(undefined, work, signal)
    const leaving = new AbortController()
    const second = limiter.run(undefined, work, leaving.signal)
    const third = limiter.run(undefined, async () => 'third', signal)
    leaving.abort(new Error('gone'))
    await expect(second).rejects.toThrow('gone')
    held.resolve('done')
    await first
    expect(await third).toBe('third')
  })

  it('gives owners turns, however many calls one of them queues', async () => {
    const limiter = createLimiter({ name: 'test', capacity: 1 })
    const begun: string[] = []
    const run = (name: string, owner?: string) =>
      limiter.run(owner, async () => begun.push(name), signal)
    const { held, work } = createWork()
    const first = limiter.run('a', work, signal)
    const many = ['a1', 'a2', 'a3', 'a4'].map((name) => run(name, 'a'))
    const others = [run('b1', 'b'), run('b2', 'b'), run('of nobody')]
    held.resolve('done')
    await Promise.all([first, ...many, ...others])
    expect(begun).toEqual(['a1', 'b1', 'of nobody', 'a2', 'b2', 'a3', 'a4'])
  })

  it('comes to all calls of an owner while others call once each time their last ends', async () => {
    const limiter = createLimiter({ name: 'test', capacity: 1 })
    const begun: string[] = []
    const run = (name: string, owner: string) =>
      limiter.run(owner, async () => void begun.push(name), signal)
    let isOver = false
    const keepCalling = async (owner: string) => {
      while (!isOver && begun.length < 50) await run(owner, owner)
    }
    const { held, work } = createWork()
    const first = limiter.run('a', work, signal)
    const loops = [keepCalling('a'), keepCalling('b')]
    const calls = [run('c1', 'c'), run('c2', 'c')]
    held.resolve('done')
    await Promise.all([first, ...calls])
    isOver = true
    await Promise.all(loops)
    expect(begun.slice(0, 6)).toEqual(expect.arrayContaining(['c1', 'c2']))
  })

  it('gives one owner half of the permits and of the queue at most', async () => {
    const limiter = createLimiter({ name: 'test', capacity: 4, maxWaiting: 4 })
    const { held, work, begun } = createWork()
    const ofOne = [1, 2, 3, 4].map(() => limiter.run('a', work, signal))
    await new Promise(setImmediate)
    expect(begun()).toBe(2)
    await expect(limiter.run('a', work, signal)).rejects.toThrow(RangeError)
    expect(await limiter.run('b', async () => 'at once', signal)).toBe('at once')
    held.resolve('done')
    expect(await Promise.all(ofOne)).toEqual(['done', 'done', 'done', 'done'])
    expect(begun()).toBe(4)
  })
})
