import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { untilAborted } from '../../../src/lib/abort.ts'
import type { SharedStore } from '../../../src/stores/opened-store.ts'
import { createPostgresData, hasPostgres, type PostgresData } from './store-data.ts'

const NEXT = { model: 'new', dimension: 3 }

async function addReady(store: SharedStore, id: string): Promise<number> {
  await store.add({ id, text: `Text of ${id}` })
  const [job] = await store.claimJobs(1)
  if (!job) throw new Error('No job is due')
  const key = await store.reserveChunkKeys(1)
  const chunk = { key, ordinal: 0, text: `Text of ${id}`, heading: '', start: 0, end: 9 }
  await store.completeJob(job, [chunk])
  const vectors = { keys: Uint32Array.of(key), dimension: 2, values: Float32Array.of(1, 0) }
  await store.addVectors(vectors, 'old')
  return key
}

describe.skipIf(!hasPostgres)('Vectors made anew in a database (needs PostgreSQL)', () => {
  let data: PostgresData
  let store: SharedStore
  let keys: number[]
  beforeEach(async () => {
    data = await createPostgresData()
    store = await data.open()
    keys = []
    for (const id of ['a', 'b', 'c']) keys.push(await addReady(store, id))
    return async () => {
      await store.close()
      await data.remove()
    }
  })

  const waiting = async () =>
    (await store.replacement.chunksWithout(0, 9)).map(({ documentId }) => documentId)
  const addNew = (some: readonly number[]) =>
    store.replacement.add({
      keys: Uint32Array.from(some),
      dimension: 3,
      values: Float32Array.from(some.flatMap(() => [0, 0, 1])),
    })

  it('take the place of the old ones at once, and only when each passage has one', async () => {
    expect(await store.replacement.begin(NEXT)).toBe(0)
    expect(await waiting()).toEqual(['a', 'b', 'c'])
    await addNew(keys.slice(0, 2))
    await expect(store.replacement.finish()).rejects.toThrow(/no new vector/)
    expect((await store.readVectors(keys)).dimension).toBe(2)
    await addNew(keys.slice(2))
    const generation = await store.vectorsGeneration()
    await store.replacement.finish()
    expect(await store.embedding()).toEqual(NEXT)
    expect(await store.readVectors(keys)).toMatchObject({ dimension: 3 })
    expect([...(await store.vectorKeys())]).toEqual(keys)
    expect(await store.vectorsGeneration()).toBeGreaterThan(generation)
  })

  it('go on where they were, and begin afresh for another model', async () => {
    await store.replacement.begin(NEXT)
    await addNew(keys.slice(0, 2))
    await store.close()
    store = await data.open()
    expect(await store.replacement.begin(NEXT)).toBe(2)
    expect(await waiting()).toEqual(['c'])
    expect(await store.replacement.begin({ ...NEXT, model: 'newer' })).toBe(0)
    expect(await waiting()).toEqual(['a', 'b', 'c'])
  })

  it('follow what happens to documents meanwhile', async () => {
    await store.replacement.begin(NEXT)
    await store.delete('a')
    await addNew(keys)
    expect(await store.replacement.begun()).toEqual({ ...NEXT, vectors: 2 })
    const added = await addReady(store, 'd')
    expect(await waiting()).toEqual(['d'])
    await addNew([added])
    await store.replacement.finish()
    expect([...(await store.vectorKeys())]).toEqual([...keys.slice(1), added])
  })

  it('can be made anew again, and documents added and deleted after it', async () => {
    for (const model of ['new', 'newer']) {
      await store.replacement.begin({ model, dimension: 3 })
      await addNew(keys)
      await store.replacement.finish()
    }
    await store.delete('b')
    expect([...(await store.vectorKeys())]).toEqual([keys[0], keys[2]])
    expect(await store.embedding()).toEqual({ model: 'newer', dimension: 3 })
  })

  it('leave a server that still makes the old ones no place for them', async () => {
    await store.replacement.begin(NEXT)
    await addNew(keys)
    await store.replacement.finish()
    await expect(addReady(store, 'late')).rejects.toThrow(/do not go with/)
    expect(await store.countWithoutVector('late')).toBe(1)
  })

  describe('by one of several servers', () => {
    const never = new AbortController().signal
    const openOther = async () => {
      const other = await data.open()
      onTestFinished(other.close)
      return other
    }

    it('are made by nobody else meanwhile, and by anybody after that', async () => {
      const other = await openOther()
      const done: string[] = []
      const took = await store.replacement.alone(async () => {
        expect(await other.replacement.alone(async () => void done.push('other'), never)).toBe(
          false,
        )
        done.push('first')
      }, never)
      expect(took).toBe(true)
      expect(await other.replacement.alone(async () => void done.push('next'), never)).toBe(true)
      expect(done).toEqual(['first', 'next'])
    })

    it('are given up by one that can no longer keep others out', async () => {
      const lost = store.replacement.alone(async (signal) => {
        await data.sql(`SELECT pg_terminate_backend(pid) FROM pg_locks
          WHERE locktype = 'advisory' AND objid = 6 AND pid <> pg_backend_pid()`)
        await untilAborted(new Promise(() => undefined), signal)
      }, never)
      await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' })
      expect(await store.replacement.alone(async () => undefined, never)).toBe(true)
    })

    it('leave the lock to others when they fail', async () => {
      const failing = store.replacement.alone(() => Promise.reject(new Error('no')), never)
      await expect(failing).rejects.toThrow('no')
      expect(await (await openOther()).replacement.alone(async () => undefined, never)).toBe(true)
    })
  })
})
