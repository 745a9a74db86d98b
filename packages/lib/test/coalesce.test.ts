import { createSharedWork } from '@agent-server/lib/coalesce.ts'
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
