import { describe, expect, it } from 'vitest'
import type { ChunkIndex, HybridRanking } from '../../src/indexes/chunk-index.ts'
import { rankHybrid } from '../../src/indexes/hybrid-ranking.ts'
import { isLong, long } from '../support/long.ts'
import { addTo, keysFor, queryOf } from './chunk-index.fixture.ts'

const DIMENSION = 48

/** The part of an index's contract that search by meaning lives on. */
export function describeVectorIndex(current: () => ChunkIndex): void {
  const addVectors = (keys: readonly number[], seedOf = (key: number) => key) =>
    current().addVectors(vectorBatch(keys, seedOf), [])
  const nearest = async (seed: number, limit = 3) =>
    (await current().nearest({ vector: randomVector(seed), limit })).map(({ key }) => key)

  describe('vectors', () => {
    it('are found by nothing in an empty index', async () => {
      expect(await nearest(1)).toEqual([])
      expect(await current().vectorKeys()).toEqual(new Uint32Array())
    })

    it('are found as soon as they are added, the nearest first', async () => {
      await addVectors([5, 6, 7, 8])
      expect((await nearest(7))[0]).toBe(7)
      const matches = await current().nearest({ vector: randomVector(6), limit: 4 })
      expect(matches.map(({ score }) => score)).toEqual(
        matches.map(({ score }) => score).toSorted((a, b) => b - a),
      )
      expect(matches[0]?.score).toBeGreaterThan(0.97)
    })

    it('are as many as asked for, or as there are', async () => {
      await addVectors([1, 2, 3, 4, 5])
      expect(await nearest(1, 2)).toHaveLength(2)
      expect(await nearest(1, 50)).toHaveLength(5)
    })

    it('that nearly equal each other are all found where all are asked for', async () => {
      const near = (key: number) => {
        const vector = randomVector(1)
        vector[key % DIMENSION] = (vector[key % DIMENSION] ?? 0) + 1e-4 * key
        return vector
      }
      const keys = Array.from({ length: 100 }, (_, i) => i + 1)
      for (const key of keys) {
        const batch = { keys: Uint32Array.of(key), dimension: DIMENSION, values: near(key) }
        await current().addVectors(batch, [])
      }
      const matches = await current().nearest({ vector: randomVector(1), limit: 100 })
      expect(new Set(matches.map(({ key }) => key)).size).toBe(100)
    })

    it('of a key that is there already are replaced', async () => {
      await addVectors([1, 2, 3])
      await addVectors([2], () => 99)
      expect((await nearest(99))[0]).toBe(2)
      expect(await current().vectorKeys()).toEqual(Uint32Array.of(1, 2, 3))
    })

    it('go with the chunk, and do not come with it', async () => {
      await addTo(current(), { 1: ['wing'], 2: ['wing'] })
      await addVectors([1, 3])
      await current().remove([1, 77])
      expect(await keysFor(current(), ['wing'])).toEqual([2])
      expect(await nearest(1)).toEqual([3])
      expect(await current().vectorKeys()).toEqual(Uint32Array.of(3))
    })

    it('may be of another dimension once none is left', async () => {
      await addVectors([1])
      await current().remove([1])
      const values = Float32Array.of(0, 1)
      await current().addVectors({ keys: Uint32Array.of(2), dimension: 2, values }, [])
      const [match] = await current().nearest({ vector: values, limit: 1 })
      expect(match?.key).toBe(2)
    })

    it('of another dimension than the question are not found', async () => {
      await addVectors([1])
      expect(await current().nearest({ vector: Float32Array.of(1), limit: 3 })).toEqual([])
    })

    it('are found nearly all among thousands', long, async () => {
      const count = isLong ? 3_000 : 1_000
      const keys = Array.from({ length: count }, (_, i) => i + 1)
      await addVectors(keys)
      const exact = vectorBatch(keys, (key) => key)
      let found = 0
      for (let seed = 10_001; seed <= 10_010; seed++) {
        const wanted = new Set(exactNearest(exact, randomVector(seed), 10))
        found += (await nearest(seed, 100)).filter((key) => wanted.has(key)).length
      }
      expect(found / 100).toBeGreaterThanOrEqual(0.98)
    })

    it('are looked for among those keys only that are asked for', async () => {
      await addVectors(Array.from({ length: 500 }, (_, i) => i + 1))
      const only = Uint32Array.from({ length: 50 }, (_, i) => 10 * (i + 1))
      const matches = await current().nearest({ vector: randomVector(21), limit: 20, only })
      expect(matches).toHaveLength(20)
      expect(matches.filter(({ key }) => key % 10 !== 0)).toEqual([])
      const [best] = await current().nearest({ vector: randomVector(240), limit: 1, only })
      expect(best?.key).toBe(240)
      const none = Uint32Array.of(9_999)
      expect(await current().nearest({ vector: randomVector(1), limit: 5, only: none })).toEqual([])
    })

    it.each([
      ['all', undefined],
      ['a few', Uint32Array.of(3, 5, 6, 15, 77, 78)],
    ])('among %s are fused with the words as they would be from outside', async (_, only) => {
      const index = current()
      const keys = Array.from({ length: 200 }, (_, i) => i + 1)
      const termsOf = (key: number) => (key % 3 ? ['sail'] : ['wing', `w${key}`])
      await addTo(index, Object.fromEntries(keys.map((key) => [key, termsOf(key)])))
      const embedded = (wanted: readonly number[]) => wanted.filter((key) => key % 5 !== 0)
      await addVectors(embedded(keys))
      const asked = { terms: queryOf(['wing']), vector: randomVector(77), limit: 30, only }
      const near = (await index.nearest(asked)).map(({ key }) => key)
      const read = (wanted: readonly number[]) => vectorBatch(embedded(wanted))
      const outside = await rankHybrid(
        { nearest: () => near, read },
        await index.search(asked),
        asked,
      )
      // An index that does not compare vectors itself is always asked from outside.
      const inside =
        (await index.searchHybrid?.({ ...asked, vector: Promise.resolve(asked.vector) })) ?? outside
      const byKey = ({ exhausted, candidates }: HybridRanking) => ({
        exhausted,
        candidates: candidates
          .map(({ key, lexical, dense }) => ({ key, lexical, dense }))
          .toSorted((a, b) => a.key - b.key),
      })
      const expected = byKey(outside)
      for (const candidate of expected.candidates) {
        candidate.dense &&= expect.closeTo(candidate.dense, 1)
      }
      expect(byKey(inside)).toEqual(expected)
    })

    it('are listed by their keys, without the words of their chunks', async () => {
      await addVectors([1, 2, 3])
      await current().remove([2])
      expect([...(await current().vectorKeys())]).toEqual([1, 3])
      expect(await current().keys()).toHaveLength(0)
    })
  })
}

export function vectorBatch(keys: readonly number[], seedOf = (key: number) => key) {
  const values = new Float32Array(keys.length * DIMENSION)
  keys.forEach((key, i) => {
    values.set(randomVector(seedOf(key)), i * DIMENSION)
  })
  return { keys: Uint32Array.from(keys), dimension: DIMENSION, values }
}

/** The same unit vector for the same seed. */
export function randomVector(seed: number): Float32Array<ArrayBuffer> {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0
  const vector = Float32Array.from({ length: DIMENSION }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  })
  const norm = Math.hypot(...vector)
  return vector.map((value) => value / norm)
}

function exactNearest(
  { keys, values }: ReturnType<typeof vectorBatch>,
  question: Float32Array,
  limit: number,
): number[] {
  const scored = Array.from(keys, (key, i) => ({
    key,
    score: question.reduce((sum, value, j) => sum + value * (values[i * DIMENSION + j] ?? 0), 0),
  }))
  scored.sort((a, b) => b.score - a.score)
  return scored.slice(0, limit).map(({ key }) => key)
}
