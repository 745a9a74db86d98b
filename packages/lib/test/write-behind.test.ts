import { WriteBehind } from '@agent-server/lib/write-behind.ts'
import { expect, it } from 'vitest'

function open(store: (batch: readonly number[]) => Promise<number>, most = 100) {
  const batches: number[][] = []
  const queue = new WriteBehind<number>({
    store(batch) {
      batches.push([...batch])
      return store(batch)
    },
    batch: 2,
    most,
    delayMs: 5,
  })
  return { queue, batches }
}

const all = async (batch: readonly number[]) => batch.length

it('stores what waits in batches, in order, after a while', async () => {
  const { queue, batches } = open(all)
  for (const entry of [1, 2, 3]) queue.add(entry)
  expect(queue.waiting).toEqual([1, 2, 3])
  await expect.poll(() => batches).toEqual([[1, 2], [3]])
  expect(queue.waiting).toEqual([])
})

it('keeps what is not done with, and begins there the next time', async () => {
  let done = 1
  const { queue, batches } = open(async () => done)
  for (const entry of [1, 2, 3]) queue.add(entry)
  await queue.flush()
  expect(queue.waiting).toEqual([2, 3])
  done = 2
  await queue.flush()
  expect(batches).toEqual([
    [1, 2],
    [2, 3],
  ])
})

it('leaves out what comes while too many wait', () => {
  const { queue } = open(async () => 0, 2)
  expect([1, 2, 3].map((entry) => queue.add(entry))).toEqual([true, true, false])
  expect(queue.waiting).toEqual([1, 2])
})

it('stores what comes while others are being stored in one more round, for all who wait', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { queue, batches } = open(async (batch) => {
    await promise
    return batch.length
  })
  queue.add(1)
  const first = queue.flush()
  await expect.poll(() => batches).toEqual([[1]])
  queue.add(2)
  const [second, third] = [queue.flush(), queue.flush()]
  expect(third).toBe(second)
  resolve()
  await Promise.all([first, second])
  expect(batches).toEqual([[1], [2]])
})

it('goes on after a round that failed, whose reason reaches whoever waits', async () => {
  let isBroken = true
  const { queue, batches } = open(async (batch) => {
    if (isBroken) throw new Error('broken')
    return batch.length
  })
  queue.add(1)
  await expect.poll(() => batches).toEqual([[1]])
  await expect(queue.flush()).rejects.toThrow('broken')
  isBroken = false
  await queue.flush()
  expect(queue.waiting).toEqual([])
})
