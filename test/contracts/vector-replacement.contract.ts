import { everything } from '@agent-server/lib/visibility.ts'
import type { OpenedStore } from '@agent-server/stores'
import { beforeEach, describe, expect, it } from 'vitest'
import { type StoreData, type TestStore, useStores } from './open-store.ts'

const NEXT = { model: 'new', dimension: 3 }

/** Vectors made anew while documents come and go. */
export function describeVectorReplacement(
  name: string,
  createData: () => Promise<StoreData>,
): void {
  const open = useStores(createData)
  describe(`Vectors made anew in ${name}`, () => {
    let on: TestStore
    let keys: number[]
    beforeEach(async () => {
      on = await open()
      keys = []
      for (const id of ['a', 'b', 'c']) keys.push(await addReady(on.store, id))
    })

    const waiting = async () =>
      (await on.store.replacement.chunksWithout(0, 9)).map(({ documentId }) => documentId)
    const addNew = (some: readonly number[]) =>
      on.store.replacement.add({
        keys: Uint32Array.from(some),
        dimension: 3,
        values: Float32Array.from(some.flatMap(() => [0, 0, 1])),
      })

    it('take the place of the old ones at once, and only when each passage has one', async () => {
      expect(await on.store.replacement.begin(NEXT)).toBe(0)
      expect(await waiting()).toEqual(['a', 'b', 'c'])
      const [first = 0] = keys
      expect(await on.store.replacement.chunksWithout(first, 1)).toMatchObject([
        { documentId: 'b' },
      ])
      await addNew(keys.slice(0, 2))
      await expect(on.store.replacement.finish()).rejects.toThrow(/no new vector/)
      expect((await on.store.readVectors(keys)).dimension).toBe(2)
      await addNew(keys.slice(2))
      const generation = await on.store.vectorsGeneration()
      await on.store.replacement.finish()
      expect(await on.store.embedding()).toEqual(NEXT)
      expect(await on.store.readVectors(keys)).toMatchObject({ dimension: 3 })
      expect([...(await on.store.vectorKeys())]).toEqual(keys)
      expect(await on.store.vectorsGeneration()).toBeGreaterThan(generation)
    })

    it('go on after a restart where they were, and begin afresh for another model', async () => {
      await on.store.replacement.begin(NEXT)
      await addNew(keys.slice(0, 2))
      await on.reopen()
      expect(await on.store.replacement.begin(NEXT)).toBe(2)
      expect(await waiting()).toEqual(['c'])
      expect(await on.store.replacement.begin({ ...NEXT, model: 'newer' })).toBe(0)
      expect(await waiting()).toEqual(['a', 'b', 'c'])
    })

    it('follow what happens to documents meanwhile', async () => {
      await on.store.replacement.begin(NEXT)
      await on.store.delete(everything(), 'a')
      await addNew(keys)
      expect(await on.store.replacement.unfinished()).toEqual({ ...NEXT, vectors: 2 })
      const added = await addReady(on.store, 'd')
      expect(await waiting()).toEqual(['d'])
      await addNew([added])
      await on.store.replacement.finish()
      expect([...(await on.store.vectorKeys())]).toEqual([...keys.slice(1), added])
      expect(await on.store.replacement.unfinished()).toBeUndefined()
    })

    it('can be made anew again, and documents added and deleted after it', async () => {
      for (const model of ['new', 'newer']) {
        await on.store.replacement.begin({ model, dimension: 3 })
        await addNew(keys)
        await on.store.replacement.finish()
      }
      await on.store.delete(everything(), 'b')
      expect([...(await on.store.vectorKeys())]).toEqual([keys[0], keys[2]])
      await on.reopen()
      expect(await on.store.embedding()).toEqual({ model: 'newer', dimension: 3 })
    })
  })
}

/** Adds a document with one chunk and its vector of the old model; answers the key. */
export async function addReady(store: OpenedStore, id: string): Promise<number> {
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
