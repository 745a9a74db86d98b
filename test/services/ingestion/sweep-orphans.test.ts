import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { createOrphanSweep } from '../../../src/services/ingestion/index-sync.ts'
import { silent } from './ingestion-parts.ts'

const never = new AbortController().signal

function openSweep(existing: readonly number[], graceMs = 1) {
  const removed: number[] = []
  let failures = 0
  const sweep = createOrphanSweep({
    store: { chunkKeys: async () => Uint32Array.from(existing) },
    index: {
      async remove(keys) {
        if (failures-- > 0) throw new AppError('index_unavailable', 'away')
        removed.push(...keys)
      },
    },
    ...{ log: silent, graceMs },
  })
  return {
    ...{ sweep, removed },
    failFirst(times: number) {
      failures = times
    },
  }
}

describe('The sweep of unknown chunks', () => {
  it('removes what still nobody has after the grace, and leaves what has come to exist', async () => {
    const { sweep, removed } = openSweep([2, 5])
    sweep.suspect([7, 5])
    sweep.suspect([1, 7])
    await sweep.run(never)
    expect(removed).toEqual([1, 7])
  })

  it('ends at once where nothing is suspected', async () => {
    const { sweep, removed } = openSweep([], 3_600_000)
    await sweep.run(never)
    expect(removed).toEqual([])
  })

  it('removes nothing when the server stops within the grace', async () => {
    const { sweep, removed } = openSweep([], 3_600_000)
    sweep.suspect([1])
    const stopping = new AbortController()
    const running = sweep.run(stopping.signal)
    stopping.abort(new Error('stopped'))
    await running
    expect(removed).toEqual([])
  })

  it('goes on once an index that was away is there again', async () => {
    const { sweep, removed, failFirst } = openSweep([])
    failFirst(2)
    sweep.suspect([3])
    await sweep.run(never)
    expect(removed).toEqual([3])
  })
})
