import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { watchIndex } from '../../../src/services/ingestion/retry-policy.ts'
import { batchOf } from '../../contracts/chunk-index.fixture.ts'
import { silent } from './ingestion-parts.ts'

const AWAY = new AppError('index_unavailable', 'away')

function openWatched() {
  let now = 0
  let failure: Error | undefined
  let calls = 0
  const given: unknown[] = []
  const change = async (...parts: unknown[]) => {
    calls++
    given.push(...parts)
    if (failure) throw failure
  }
  const fed = { add: change, remove: change }
  const watched = watchIndex(fed, silent, () => now)
  return {
    ...watched,
    given,
    add: () => watched.index.add(Uint32Array.of(1), batchOf([['wing']]), []),
    calls: () => calls,
    fail(error: Error | undefined) {
      failure = error
    },
    pass(milliseconds: number) {
      now += milliseconds
    },
  }
}

describe('An index that is watched', () => {
  it('is given all that it was to be given', async () => {
    const { index, given } = openWatched()
    const parts = [Uint32Array.of(1), batchOf([['wing']]), [{ year: 2026 }]] as const
    await index.add(...parts)
    await index.remove([1])
    expect(given).toEqual([...parts, [1]])
  })

  it('is not asked again for a while after it was away', async () => {
    const watched = openWatched()
    watched.fail(AWAY)
    await expect(watched.add()).rejects.toBe(AWAY)
    expect(watched.isDown()).toBe(true)
    expect(watched.pauseMs()).toBeGreaterThan(0)
    await expect(watched.add()).rejects.toBe(AWAY)
    await expect(watched.index.remove([1])).rejects.toBe(AWAY)
    expect(watched.calls()).toBe(1)
  })

  it('is asked again after the pause, and works from then on', async () => {
    const watched = openWatched()
    watched.fail(AWAY)
    await expect(watched.add()).rejects.toBe(AWAY)
    watched.fail(undefined)
    watched.pass(watched.pauseMs())
    await watched.add()
    expect(watched.isDown()).toBe(false)
    expect(watched.pauseMs()).toBe(0)
  })

  it('is not away because of one change that it refuses', async () => {
    const watched = openWatched()
    watched.fail(new RangeError('another dimension'))
    await expect(watched.add()).rejects.toThrow('another dimension')
    expect(watched.isDown()).toBe(false)
  })
})
