import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { observeSearches, onceReady, type Search } from '../../../src/services/retrieval/search.ts'
import { hitOf } from '../agent/hit.ts'

const query = { query: 'When?', topK: 5 }
const FOUND = { hits: [hitOf('a')], degraded: false }
const { signal } = new AbortController()

/** A retrieval that notes what it is asked. */
function createNoting(search = async () => FOUND) {
  const asked: [Search, AbortSignal | undefined][] = []
  return {
    asked,
    search: (request: Search, callSignal?: AbortSignal) => {
      asked.push([request, callSignal])
      return search()
    },
  }
}

describe('an observed search', () => {
  it('is the same search, with its time reported', async () => {
    const times: number[] = []
    const inner = createNoting(async () => {
      await pause(20)
      return FOUND
    })
    const observed = observeSearches(inner, (milliseconds) => void times.push(milliseconds))
    expect(await observed.search(query, signal)).toEqual(FOUND)
    expect(inner.asked).toEqual([[query, signal]])
    expect(times).toEqual([expect.any(Number)])
    expect(times[0]).toBeGreaterThan(15)
  })

  it('that fails counts with the time it took', async () => {
    const times: number[] = []
    const failure = new Error('x')
    const inner = createNoting(() => Promise.reject(failure))
    const observed = observeSearches(inner, (milliseconds) => void times.push(milliseconds))
    await expect(observed.search(query)).rejects.toBe(failure)
    expect(times).toEqual([expect.any(Number)])
  })
})

describe('a search of an index', () => {
  it('that is being rebuilt is refused, with progress and the time to wait', async () => {
    const inner = createNoting()
    const retrieval = onceReady(inner, () => ({ state: 'rebuilding', done: 5, total: 20 }))
    await expect(retrieval.search(query)).rejects.toMatchObject({
      code: 'index_not_ready',
      status: 503,
      message: 'The search index is being rebuilt: 5 of 20 chunks done',
      retryAfter: expect.any(Number),
    })
    expect(inner.asked).toEqual([])
  })

  it('that has become ready is made', async () => {
    const inner = createNoting()
    let state: 'ready' | 'rebuilding' = 'rebuilding'
    const retrieval = onceReady(inner, () => ({ state, done: 20, total: 20 }))
    await expect(retrieval.search(query, signal)).rejects.toMatchObject({ code: 'index_not_ready' })
    state = 'ready'
    expect(await retrieval.search(query, signal)).toEqual(FOUND)
    expect(inner.asked).toEqual([[query, signal]])
  })
})
