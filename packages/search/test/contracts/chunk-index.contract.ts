import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLong, long } from '../../../../test/support/long.ts'
import type { ChunkIndex, IndexSource } from '../../src/chunk-index.ts'
import {
  addTo,
  batchOf,
  createSource,
  keysFor,
  labelsOf,
  queryOf,
  searchIn,
  seen,
} from './chunk-index.fixture.ts'
import { describeSeen } from './seen-chunks.contract.ts'
import { describeVectorIndex } from './vector-index.contract.ts'

export interface ChunkIndexCase {
  index: ChunkIndex
  /** Whether it counts the chunks that have a term; absent for no. */
  counts?: boolean
  /** Removes what the index leaves behind when it is closed. */
  remove(): Promise<void>
}

/** What ingestion and retrieval rely on, whichever index is behind them. */
export function describeChunkIndex(
  name: string,
  create: (source: IndexSource) => Promise<ChunkIndexCase>,
): void {
  describe(`${name} as a chunk index`, () => {
    let index: ChunkIndex
    let source: ReturnType<typeof createSource>
    let counts: boolean
    let remove: () => Promise<void>

    beforeEach(async () => {
      source = createSource()
      ;({ index, remove, counts = false } = await create(source))
    })
    afterEach(async () => {
      await index.close()
      await remove()
    })

    describeVectorIndex(() => ({ index, source }))
    describeSeen(() => ({ index, source, counts }))

    describe('search', () => {
      it('finds nothing in an empty index', async () => {
        expect(await searchIn(index, ['wing'])).toEqual([])
      })

      it('finds a chunk by each of its terms as soon as it is added', async () => {
        await addTo(index, { 7: ['wing', 'lift'] })
        expect(await keysFor(index, ['wing'])).toEqual([7])
        expect(await keysFor(index, ['lift'])).toEqual([7])
      })

      it('finds nothing for terms that no chunk holds, and nothing for no terms', async () => {
        await addTo(index, { 1: ['wing'] })
        expect(await searchIn(index, ['drag'])).toEqual([])
        expect(await searchIn(index, [])).toEqual([])
      })

      it('finds only what the filter accepts, with the same scores', async () => {
        const chunks = { 1: ['wing'], 2: ['wing', 'a'], 5: ['wing', 'a', 'b'], 9: ['a'] }
        const of = (...keys: number[]) => ({ field: 'key', in: keys })
        for (const key of Object.keys(chunks).map(Number)) source.metadata.set(key, { key })
        const keys = Uint32Array.from(Object.keys(chunks), Number)
        const labels = Array.from(keys, (key) => labelsOf({ key }))
        await index.add(keys, batchOf(Object.values(chunks)), labels)
        await index.remove([2])
        await index.add(Uint32Array.of(2), batchOf([['wing', 'a']]), [labelsOf({ key: 2 })])
        const all = await searchIn(index, ['wing'])
        const among = (...wanted: number[]) => searchIn(index, ['wing'], { filter: of(...wanted) })
        expect(await among(0, 2, 3, 5, 9)).toEqual(all.filter(({ key }) => key !== 1))
        expect(await among(3, 9)).toEqual([])
      })

      it('puts a chunk with more of the terms first', async () => {
        await addTo(index, { 1: ['wing', 'tail'], 2: ['wing', 'lift'], 3: ['tail', 'drag'] })
        expect(await keysFor(index, ['wing', 'lift'])).toEqual([2, 1])
      })

      it('weighs a rare term above a common one', async () => {
        await addTo(index, { 1: ['common', 'a'], 2: ['rare', 'b'], 3: ['common', 'c'] })
        expect((await keysFor(index, ['common', 'rare']))[0]).toBe(2)
      })

      it('weighs repetition in a chunk, and a short chunk above a long one', async () => {
        const padding = { a: 1, b: 1, c: 1, d: 1 }
        await addTo(index, { 1: { wing: 1, ...padding }, 2: { wing: 3, a: 1, b: 1 }, 3: padding })
        await addTo(index, { 4: { wing: 1, ...padding, e: 9, f: 9 } })
        expect(await keysFor(index, ['wing'])).toEqual([2, 1, 4])
      })

      it('weighs a term by how often the query contains it', async () => {
        await addTo(index, { 1: ['wing', 'a'], 2: ['lift', 'b'] })
        expect(await keysFor(index, { wing: 1, lift: 2 })).toEqual([2, 1])
        expect(await keysFor(index, { wing: 2, lift: 1 })).toEqual([1, 2])
      })

      it('returns descending scores, all above zero', async () => {
        await addTo(index, { 1: ['a'], 2: ['a', 'b'], 3: ['a', 'b', 'c'], 4: ['c', 'd'] })
        const scores = (await searchIn(index, ['a', 'b', 'c'])).map(({ score }) => score)
        expect(scores).toHaveLength(4)
        expect(scores).toEqual(scores.toSorted((a, b) => b - a))
        expect(scores.at(-1)).toBeGreaterThan(0)
      })

      it('orders equal scores by ascending key, in whatever order they were added', async () => {
        for (const key of [30, 10, 4_000_000_000, 20]) await addTo(index, { [key]: ['wing'] })
        expect(await keysFor(index, ['wing'])).toEqual([10, 20, 30, 4_000_000_000])
        expect(await keysFor(index, ['wing'], 2)).toEqual([10, 20])
      })

      it('returns the best matches up to the limit', async () => {
        const chunks = Array.from({ length: 7 }, (_, i) => ({ wing: 1, pad: 7 - i }))
        await addTo(index, Object.fromEntries(chunks.map((terms, i) => [i + 1, terms])))
        expect(await keysFor(index, ['wing'], 3)).toEqual([7, 6, 5])
        expect(await keysFor(index, ['wing'], 1)).toEqual([7])
        expect(await keysFor(index, ['wing'], 1_000)).toHaveLength(7)
      })

      it('throws the reason of a signal that is aborted before or meanwhile', async () => {
        await addTo(index, { 1: ['wing'] })
        const query = { mode: 'lexical', terms: queryOf(['wing']), limit: 5 } as const
        const reason = new Error('left')
        await expect(index.search(seen(), query, AbortSignal.abort(reason))).rejects.toBe(reason)
        const controller = new AbortController()
        const answer = index.search(seen(), query, controller.signal)
        controller.abort(reason)
        await expect(answer).rejects.toBe(reason)
        const found = await index.search(seen(), query, new AbortController().signal)
        expect(found).toMatchObject({ candidates: [{ key: 1 }], exhausted: true, degraded: false })
      })
    })

    describe('add', () => {
      it('replaces a key that is present, so that its former terms no longer find it', async () => {
        await addTo(index, { 1: ['old'], 2: ['old'] })
        await addTo(index, { 1: ['new'] })
        expect(await keysFor(index, ['old'])).toEqual([2])
        expect(await keysFor(index, ['new'])).toEqual([1])
        expect([...(await index.keys())]).toEqual([1, 2])
      })

      it('keeps the last chunk of a duplicate key in a batch', async () => {
        await index.add(Uint32Array.of(5, 5), batchOf([['first'], ['second']]), [])
        expect(await keysFor(index, ['first'])).toEqual([])
        expect(await keysFor(index, ['second'])).toEqual([5])
      })

      it('accepts an empty batch, and a chunk without terms, which never matches', async () => {
        await index.add(new Uint32Array(), batchOf([]), [])
        await addTo(index, { 3: [] })
        expect([...(await index.keys())]).toEqual([3])
        expect(await searchIn(index, ['wing'])).toEqual([])
      })

      it('leaves the batch to its caller, who may add it again', async () => {
        const keys = Uint32Array.of(1)
        const batch = batchOf([['wing']])
        await index.add(keys, batch, [])
        await index.remove([1])
        await index.add(keys, batch, [])
        expect(await keysFor(index, ['wing'])).toEqual([1])
      })

      it('accepts a large batch, and answers searches meanwhile', long, async () => {
        await addTo(index, { 0: ['early'] })
        const size = isLong ? 5_000 : 1_000
        const keys = Uint32Array.from({ length: size }, (_, i) => i + 1)
        const chunks = Array.from(keys, (key) => ['all', `only ${key}`, `tens ${key % 10}`])
        const added = index.add(keys, batchOf(chunks), [])
        expect(await keysFor(index, ['early'])).toEqual([0])
        await added
        expect(await index.keys()).toHaveLength(size + 1)
        for (const key of [1, size / 2, size]) {
          expect(await keysFor(index, [`only ${key}`, 'all'], 1)).toEqual([key])
        }
        expect(await keysFor(index, ['tens 7'], size)).toHaveLength(size / 10)
      })
    })

    describe('remove', () => {
      it('hides a chunk from the very next search', async () => {
        await addTo(index, { 1: ['wing'], 2: ['wing'] })
        await index.remove([1])
        expect(await keysFor(index, ['wing'])).toEqual([2])
        await index.remove([2])
        expect(await keysFor(index, ['wing'])).toEqual([])
      })

      it('ignores unknown keys, keys removed before, and no keys', async () => {
        await addTo(index, { 1: ['wing'] })
        await index.remove([99, 0, 4_294_967_295])
        await index.remove([])
        expect(await keysFor(index, ['wing'])).toEqual([1])
        await index.remove([1])
        await index.remove([1])
        expect(await index.keys()).toHaveLength(0)
      })

      it('lets the key be added again', async () => {
        await addTo(index, { 1: ['wing'] })
        await index.remove([1])
        await addTo(index, { 1: ['lift'] })
        expect(await keysFor(index, ['wing', 'lift'])).toEqual([1])
      })
    })

    it('applies changes in the order of the calls, awaited or not', async () => {
      const chunks = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [i, ['wing']]))
      const changes = [
        addTo(index, chunks),
        index.remove([5, 599]),
        addTo(index, { 5: ['again'] }),
        index.remove([6]),
      ]
      await Promise.all(changes)
      expect(await keysFor(index, ['again'])).toEqual([5])
      expect(await index.keys()).toHaveLength(598)
    })

    it('lists all keys, ascending', async () => {
      expect([...(await index.keys())]).toEqual([])
      await addTo(index, { 9: ['a'], 4294967295: ['b'] })
      await addTo(index, { 3: ['a'], 12: ['a'], 0: ['a'] })
      await index.remove([12])
      expect([...(await index.keys())]).toEqual([0, 3, 9, 4_294_967_295])
    })

    it('can be closed twice, and refuses every call from then on', async () => {
      await addTo(index, { 1: ['wing'] })
      await Promise.all([index.close(), index.close()])
      await expect(searchIn(index, ['wing'])).rejects.toThrow()
      await expect(addTo(index, { 2: ['wing'] })).rejects.toThrow()
    })
  })
}
