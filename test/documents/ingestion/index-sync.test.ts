import { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import {
  createOrphanSweep,
  createReconciliation,
} from '../../../src/documents/ingestion/index-sync.ts'
import { onlyLong } from '../../support/long.ts'
import {
  createRunning,
  failingFirst,
  find,
  keysOf,
  openParts,
  type Parts,
  silent,
} from './ingestion-parts.ts'

/** Parts whose document store holds `count` chunks, of one document each, and whose index holds them too. */
async function openFilled(count: number): Promise<Parts> {
  const parts = await openParts()
  const ids = Array.from({ length: count }, (_, i) => `document${i}`)
  await Promise.all(ids.map((id) => parts.store.add({ id, text: `All about ${id}.` })))
  const running = createRunning(parts, { concurrency: 128 })
  await running.start()
  await running.until('ready', count)
  await running.stop(1_000)
  return parts
}

const reconciliationOf = (parts: Parts) => createReconciliation({ ...parts, log: silent })
const never = new AbortController().signal

describe('reconciliation', () => {
  it('fills an empty index from the document store', async () => {
    const parts = await openFilled(700)
    await parts.index.remove(Array.from(await parts.index.keys()))
    const reconciliation = reconciliationOf(parts)
    await expect(reconciliation.check()).rejects.toMatchObject({ code: 'index_not_ready' })

    await reconciliation.run(never)
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(await find(parts, 'document612')).toEqual(['document612'])
    const all = { state: 'ready', done: 700, total: 700, present: 0 }
    expect(reconciliation.progress()).toEqual(all)
    await expect(reconciliation.check()).resolves.toBeUndefined()
  })

  it('removes what the document store does not know and adds what the index lacks', async () => {
    const parts = await openFilled(6)
    const { known } = await keysOf(parts)
    await parts.index.remove(known.slice(1, 3))
    await parts.store.delete(everything(), 'document5')
    expect((await keysOf(parts)).index).not.toEqual((await keysOf(parts)).known)

    await reconciliationOf(parts).run(never)
    const after = await keysOf(parts)
    expect(after.index).toEqual(after.known)
    expect(after.index).toHaveLength(5)
  })

  it('adds nothing to an index that is complete', async () => {
    const parts = await openFilled(3)
    const add = failingFirst(1, parts.index.add)
    const index = { ...parts.index, add }
    const reconciliation = createReconciliation({ ...parts, index, log: silent })
    await reconciliation.run(never)
    expect(reconciliation.progress()).toMatchObject({ state: 'ready', done: 0, total: 0 })
  })

  it('ends when it is aborted, and goes on from there when it is run again', onlyLong, async () => {
    const parts = await openFilled(2_100)
    await parts.index.remove(Array.from(await parts.index.keys()))
    const stopping = new AbortController()
    const reason = new Error('stopping')
    const index = {
      ...parts.index,
      async add(...input: Parameters<typeof parts.index.add>) {
        await parts.index.add(...input)
        stopping.abort(reason)
      },
    }
    const reconciliation = createReconciliation({ ...parts, index, log: silent })
    await expect(reconciliation.run(stopping.signal)).rejects.toBe(reason)
    await expect(reconciliation.check()).rejects.toMatchObject({
      code: 'index_not_ready',
      status: 503,
      retryAfter: expect.any(Number),
      message: expect.stringMatching(
        /^The search index is being rebuilt: \d+ of 2100 chunks done$/,
      ),
    })
    const held = (await keysOf(parts)).index.length
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThan(2_100)

    await reconciliation.run(never)
    expect(reconciliation.progress().total).toBeLessThanOrEqual(2_100 - held)
    expect((await keysOf(parts)).index).toHaveLength(2_100)
  })

  it('tells the error of a part and is not ready', async () => {
    const parts = await openFilled(3)
    await parts.index.remove((await keysOf(parts)).known)
    const preparer = { analyse: failingFirst(1, parts.preparer.analyse) }
    const reconciliation = createReconciliation({ ...parts, preparer, log: silent })
    await expect(reconciliation.run(never)).rejects.toThrow('out of order')
    await expect(reconciliation.check()).rejects.toMatchObject({ code: 'index_not_ready' })
    await reconciliation.run(never)
    expect(reconciliation.progress().state).toBe('ready')
  })

  it('leaves out a document that is deleted while it is added', onlyLong, async () => {
    const parts = await openFilled(3)
    await parts.index.remove((await keysOf(parts)).known)
    const store = {
      ...parts.store,
      async readChunks(...input: Parameters<typeof parts.store.readChunks>) {
        const chunks = await parts.store.readChunks(...input)
        await parts.store.delete(everything(), 'document1')
        return chunks
      },
    }
    await createReconciliation({ ...parts, store, log: silent }).run(never)
    const { index, known } = await keysOf(parts)
    expect(index).toEqual(known)
    expect(index).toHaveLength(2)
  })
})

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
    log: silent,
    graceMs,
  })
  return {
    sweep,
    removed,
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
