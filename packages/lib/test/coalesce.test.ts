import { createCoalescingQueue, createSharedWork } from '@agent-server/lib/coalesce.ts'
import { describe, expect, it } from 'vitest'

const { signal } = new AbortController()

function create() {
  const share = createSharedWork<number>()
  const begun: PromiseWithResolvers<number>[] = []
  const ask = (key = 'a', asked = signal) =>
    share(
      key,
      () => {
        const work = Promise.withResolvers<number>()
        begun.push(work)
        return work.promise
      },
      asked,
    )
  return { ask, begun }
}

describe('Work that two callers request', () => {
  it('is done once, and answers both', async () => {
    const { ask, begun } = create()
    const both = Promise.all([ask(), ask()])
    begun[0]?.resolve(7)
    expect(await both).toEqual([7, 7])
    expect(begun).toHaveLength(1)
  })

  it('is done for each key', () => {
    const { ask, begun } = create()
    void ask('a')
    void ask('b')
    expect(begun).toHaveLength(2)
  })

  it('is done again after it ended, also if it failed', async () => {
    const { ask, begun } = create()
    const first = ask()
    begun[0]?.reject(new Error('broken'))
    await expect(first).rejects.toThrow('broken')
    const second = ask()
    begun[1]?.resolve(8)
    expect(await second).toBe(8)
  })

  it('continues for the others if one caller leaves', async () => {
    const { ask, begun } = create()
    const leaving = new AbortController()
    const [gone, staying] = [ask('a', leaving.signal), ask()]
    leaving.abort(new Error('gone'))
    await expect(gone).rejects.toThrow('gone')
    begun[0]?.resolve(9)
    expect(await staying).toBe(9)
  })

  it('may fail after every caller has left', async () => {
    const { ask, begun } = create()
    const leaving = new AbortController()
    const gone = ask('a', leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(gone).rejects.toThrow('gone')
    begun[0]?.reject(new Error('broken'))
  })
})

describe('A queue whose batches end after their first input', () => {
  interface Input {
    name: string
    owner: string
    weight: number
  }
  const create = () => {
    const done: string[] = []
    const queue = createCoalescingQueue<Input, void>({
      async work(batch) {
        await new Promise(setImmediate)
        const [first, ...left] = batch
        done.push(first?.input.name ?? '')
        first?.resolve()
        return left
      },
      weightOf: ({ weight }) => weight,
      maxWeight: 100,
      maxShort: 10,
      ownerOf: ({ owner }) => owner,
    })
    const submit = (name: string, owner = name, weight = 1) => queue.submit({ name, owner, weight })
    /** Submits one each time the last is done, until all of these are. */
    const besides = async (all: readonly Promise<void>[], ...names: string[]) => {
      let isOver = false
      const loops = names.map(async (name) => {
        while (!isOver && done.length < 50) {
          await submit(name)
          await new Promise(setImmediate)
        }
      })
      await Promise.all(all)
      isOver = true
      await Promise.all(loops)
    }
    return { done, submit, besides }
  }

  it('comes to all inputs of an owner while others bring one each time their last is done', async () => {
    const { done, submit, besides } = create()
    await besides([submit('c1', 'c'), submit('c2', 'c')], 'a', 'b')
    expect(done.slice(0, 6)).toEqual(expect.arrayContaining(['c1', 'c2']))
  })

  it('comes to long ones while short ones keep coming', async () => {
    const { done, submit, besides } = create()
    const long = ['l1', 'l2', 'l3'].map((name) => submit(name, 'long', 11))
    await besides(long, 'a', 'b')
    expect(done.slice(0, 8)).toEqual(expect.arrayContaining(['l1', 'l2', 'l3']))
  })
})
