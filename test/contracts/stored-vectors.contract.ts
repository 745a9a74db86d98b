import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkVectors } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { FAILURE, type StoreFixture } from './document-store.fixture.ts'

/** The part of the document store's contract that search by meaning lives on. */
export function describeStoredVectors(on: StoreFixture): void {
  const vectorsOf = (...rows: number[][]): ChunkVectors => ({
    model: 'model-a',
    dimension: rows[0]?.length ?? 0,
    values: Float32Array.from(rows.flat()),
  })
  const ingest = async (vectors: ChunkVectors, texts: string[]) => {
    const job = await on.claim()
    const chunks = await on.chunksOf(...texts)
    await on.store.completeJob(job, chunks)
    const keys = chunks.map(({ key }) => key)
    const { model, dimension, values } = vectors
    await on.store.addVectors({ keys: Uint32Array.from(keys), dimension, values }, model)
    return keys
  }

  describe('vectors', () => {
    it('are none where none were given', async () => {
      await on.add('a')
      const keys = await on.ingest('one')
      expect(await on.store.embedding()).toBeUndefined()
      expect(await on.store.vectorKeys()).toEqual(new Uint32Array())
      expect(await on.store.readVectors(keys)).toMatchObject({ dimension: 0 })
    })

    it('can be read back, exact to a thousandth', async () => {
      await on.add('a')
      const rows = [
        [0.6, 0.8, 0],
        [-0.123_4, 0.5, 0.857_2],
      ]
      const keys = await ingest(vectorsOf(...rows), ['one', 'two'])
      expect(await on.store.embedding()).toEqual({ model: 'model-a', dimension: 3 })
      expect(await on.store.vectorKeys()).toEqual(Uint32Array.from(keys))
      const { keys: found, dimension, values } = await on.store.readVectors(keys.toReversed())
      expect([...found]).toEqual(keys)
      expect(dimension).toBe(3)
      rows.flat().forEach((value, i) => {
        expect(values[i]).toBeCloseTo(value, 3)
      })
    })

    it('survive a restart', async () => {
      await on.add('a')
      const keys = await ingest(vectorsOf([1, 0]), ['one'])
      await on.reopen()
      expect((await on.store.readVectors(keys)).values).toEqual(Float32Array.of(1, 0))
      expect(await on.store.embedding()).toEqual({ model: 'model-a', dimension: 2 })
    })

    it('go with the document, and with a replaced revision', async () => {
      await on.add('a')
      await on.add('b')
      await ingest(vectorsOf([1, 0]), ['of a'])
      const [old = 0] = await ingest(vectorsOf([0, 1]), ['of b'])
      await on.store.delete(everything(), 'a')
      expect(await on.store.vectorKeys()).toEqual(Uint32Array.of(old))
      await on.replaceContent('b', 'new')
      const [fresh = 0] = await ingest(vectorsOf([1, 0]), ['of b, new'])
      expect(await on.store.vectorKeys()).toEqual(Uint32Array.of(fresh))
      expect((await on.store.readVectors([old])).keys).toHaveLength(0)
    })

    it.each([
      ['another model', { ...vectorsOf([1, 0]), model: 'model-b' }],
      ['another dimension', vectorsOf([1, 0, 0])],
    ])('of %s are refused beside those that are kept', async (_what, other) => {
      await on.add('a')
      await on.add('b')
      await ingest(vectorsOf([1, 0]), ['of a'])
      await expect(ingest(other, ['of b'])).rejects.toThrow(/are incompatible with/)
      expect(await on.store.countWithoutVector('b')).toBe(1)
    })

    it('of another model are taken once no other is left', async () => {
      await on.add('a')
      await ingest(vectorsOf([1, 0]), ['of a'])
      const before = await on.store.vectorsGeneration()
      await on.store.delete(everything(), 'a')
      await on.add('b')
      await ingest({ ...vectorsOf([1, 0, 0]), model: 'model-b' }, ['of b'])
      expect(await on.store.embedding()).toEqual({ model: 'model-b', dimension: 3 })
      expect(await on.store.vectorsGeneration()).toBeGreaterThan(before)
    })

    it('may come after the chunks, which are counted until then', async () => {
      await on.add('a')
      await on.add('b')
      const keys = await on.ingest('one', 'two')
      const [other = 0] = await on.ingest('of b')
      expect(await on.store.countWithoutVector('a')).toBe(2)
      const { model, ...vectors } = vectorsOf([1, 0], [0, 1])
      const later = { keys: Uint32Array.from(keys), ...vectors }
      expect(new Set(await on.store.addVectors(later, model))).toEqual(new Set(keys))
      expect([
        await on.store.countWithoutVector('a'),
        await on.store.countWithoutVector('b'),
        await on.store.countWithoutVector('nobody'),
      ]).toEqual([0, 1, 0])
      await on.reopen()
      expect(await on.store.embedding()).toEqual({ model, dimension: 2 })
      expect((await on.store.readVectors(keys)).values).toEqual(Float32Array.of(1, 0, 0, 1))
      const ofOther = { keys: Uint32Array.of(other), dimension: 2, values: Float32Array.of(1, 0) }
      await expect(on.store.addVectors(ofOther, 'model-b')).rejects.toThrow(/are incompatible with/)
    })

    it('that come once more take the place of those before', async () => {
      await on.add('a')
      const keys = await on.ingest('one', 'two')
      const { model, ...vectors } = vectorsOf([1, 0], [0, 1])
      const again = {
        keys: Uint32Array.from(keys),
        dimension: 2,
        values: Float32Array.of(0, 1, 1, 0),
      }
      await on.store.addVectors({ ...again, ...vectors }, model)
      expect(await on.store.addVectors(again, model)).toHaveLength(2)
      expect((await on.store.readVectors(keys)).values).toEqual(again.values)
    })

    it('that come after their chunks have gone are not kept', async () => {
      await on.add('a')
      await on.add('b')
      const [gone = 0] = await on.ingest('of a')
      const [kept = 0] = await on.ingest('of b')
      await on.store.delete(everything(), 'a')
      const { model, ...vectors } = vectorsOf([1, 0], [0, 1])
      const keys = Uint32Array.of(gone, kept)
      expect(await on.store.addVectors({ keys, ...vectors }, model)).toEqual([kept])
      expect(await on.store.vectorKeys()).toEqual(Uint32Array.of(kept))
    })
  })

  describe('a claim given back with a reason', () => {
    it('is not counted, and the document says what it waits for until it is ready', async () => {
      await on.add('a')
      await on.store.releaseJob(await on.claim(), FAILURE)
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'pending',
        attempts: 0,
        error: FAILURE,
      })
      await on.ingest('one')
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'ready',
        error: undefined,
      })
    })
  })
}
