import { readFile } from 'node:fs/promises'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { describe, expect, it } from 'vitest'
import { batchOf, labelsOf } from '../../../packages/search/test/contracts/chunk-index.fixture.ts'
import {
  FAILURE_CODES,
  RETRY,
  untilAvailable,
  watchIndex,
} from '../../../src/documents/ingestion/retry-policy.ts'
import { SPLIT_LIMITS } from '../../../src/documents/ingestion/split/pack-units.ts'
import { silent } from './ingestion-parts.ts'

const backoff = { firstMs: 1_000, maxMs: 300_000, factor: 4 }

describe('the wait before another attempt', () => {
  it('is four times as long each time, up to the longest', () => {
    const waits = [1, 2, 3, 4, 5, 6].map((attempt) => backoffMs(attempt, backoff, () => 1))
    expect(waits).toEqual([1_000, 4_000, 16_000, 64_000, 256_000, 300_000])
  })

  it('is between half and all of that, by chance', () => {
    expect(backoffMs(2, backoff, () => 0)).toBe(2_000)
    expect(backoffMs(2, backoff, () => 0.5)).toBe(3_000)
  })

  it('outlasts a minute of outage over all attempts', () => {
    const waits = Array.from({ length: RETRY.attempts - 1 }, (_, failures) =>
      backoffMs(failures + 1, RETRY.backoff, () => 0.5),
    )
    expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(60_000)
  })
})

const never = new AbortController().signal

describe('Work that waits for the parts it needs', () => {
  it.each(['index_unavailable', 'store_unavailable'] as const)(
    'is done again after %s',
    async (code) => {
      let calls = 0
      const work = async () => {
        if (++calls < 3) throw new AppError(code, 'away')
        return calls
      }
      expect(await untilAvailable(work, silent, never)).toBe(3)
    },
  )

  it('ends with whatever else goes wrong', async () => {
    const wrong = new Error('does not fit')
    await expect(untilAvailable(() => Promise.reject(wrong), silent, never)).rejects.toBe(wrong)
  })

  it('ends when it is told to, also while it waits', async () => {
    const stopping = new AbortController()
    const away = () => Promise.reject(new AppError('index_unavailable', 'away'))
    const waiting = untilAvailable(away, silent, stopping.signal)
    const reason = new Error('stopped')
    stopping.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })
})

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
    const parts = [Uint32Array.of(1), batchOf([['wing']]), [labelsOf({ year: 2026 })]] as const
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

const read = (page: string) => readFile(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')

describe('The documentation', () => {
  it('explains every code that a failed document may carry, and no other', async () => {
    const page = await read('guides/ingestion.md')
    const explained = Array.from(page.matchAll(/^\| `([a-z_]+)` \|/gm), ([, code]) => code)
    expect(explained).toEqual([...FAILURE_CODES])
  })

  it('tells the sizes of passages as they are', async () => {
    const page = await read('internals/ingestion.md')
    const { tokens, overlap, least, enough } = SPLIT_LIMITS
    expect(page).toContain(`at most ${tokens} tokens. A last one of less than ${least}`)
    expect(page).toContain(`once the one before holds ${enough} tokens`)
    expect(page).toContain(`repeats up to ${overlap} tokens`)
  })
})
