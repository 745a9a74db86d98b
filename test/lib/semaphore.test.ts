import { describe, expect, it } from 'vitest'
import { createSemaphore } from '../../src/lib/semaphore.ts'

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
  it('lets so many work at once, and the next in its turn', async () => {
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

  it('refuses one more than may wait', async () => {
    const semaphore = createSemaphore(1, 0)
    const { held, work } = createWork()
    const first = semaphore.run(work, signal)
    await expect(semaphore.run(work, signal)).rejects.toThrow(RangeError)
    held.resolve('done')
    await first
  })

  it('lets a waiting one leave, and loses no turn by it', async () => {
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
})
