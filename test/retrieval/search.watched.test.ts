import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import { type Search, watchSearches } from '../../src/retrieval/search.ts'
import { hitOf } from '../support/hit.ts'

const query = { visibility: everything(), query: 'When?', topK: 5 }
const FOUND = { hits: [hitOf('a')], corrections: [], degraded: false }
const { signal } = new AbortController()

/** A retrieval that notes what it is asked. */
function createNoting(search = async () => FOUND) {
  const asked: [Search, AbortSignal | undefined][] = []
  return {
    asked,
    asksModel: false,
    search: (request: Search, callSignal?: AbortSignal) => {
      asked.push([request, callSignal])
      return search()
    },
  }
}

const isReady = async () => undefined

describe('an observed search', () => {
  it('is the same search, with its time reported', async () => {
    const times: number[] = []
    const before = performance.now()
    const inner = createNoting(async () => {
      await pause(20)
      return FOUND
    })
    const observed = watchSearches(inner, isReady, {
      onQuestion: () => undefined,
      ended: (milliseconds) => void times.push(milliseconds),
    })
    expect(await observed.search(query, signal)).toEqual(FOUND)
    expect(inner.asked).toEqual([[query, signal]])
    expect(times).toEqual([expect.any(Number)])
    expect(times[0]).toBeGreaterThan(15)
    expect(times[0]).toBeLessThanOrEqual(performance.now() - before)
  })

  it('that fails counts with the time it took', async () => {
    const times: number[] = []
    const failure = new Error('x')
    const inner = createNoting(() => Promise.reject(failure))
    const observed = watchSearches(inner, isReady, {
      onQuestion: () => undefined,
      ended: (milliseconds) => void times.push(milliseconds),
    })
    await expect(observed.search(query)).rejects.toBe(failure)
    expect(times).toEqual([expect.any(Number)])
  })
})

describe('a search of an index', () => {
  it('that is not ready is refused until it is', async () => {
    const inner = createNoting()
    let refusal: Error | undefined = new AppError('index_not_ready', 'Wait')
    const checkReady = async () => {
      if (refusal) throw refusal
    }
    const retrieval = watchSearches(inner, checkReady, {
      onQuestion: () => undefined,
      ended: () => undefined,
    })
    await expect(retrieval.search(query, signal)).rejects.toMatchObject({ code: 'index_not_ready' })
    expect(inner.asked).toEqual([])
    refusal = undefined
    expect(await retrieval.search(query, signal)).toEqual(FOUND)
    expect(inner.asked).toEqual([[query, signal]])
  })
})
