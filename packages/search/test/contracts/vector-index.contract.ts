import { describe, expect, it } from 'vitest'
import { isLong, long } from '../../../../test/support/long.ts'
import type { ChunkIndex, VectorBatch } from '../../src/chunk-index.ts'
import { rankHybrid } from '../../src/fusion.ts'
import {
  addTo,
  batchOf,
  type createSource,
  keysFor,
  labelsOf,
  nearestIn,
  queryOf,
  searchIn,
  seen,
} from './chunk-index.fixture.ts'

const DIMENSION = 48

/** The part of an index's contract that search by meaning lives on. */
export function describeVectorIndex(
  current: () => { index: ChunkIndex; source: ReturnType<typeof createSource> },
): void {
  const add = async (batch: VectorBatch) => {
    current().source.keep(batch)
    await current().index.addVectors(batch)
  }
  const addVectors = (keys: readonly number[], seedOf = (key: number) => key) =>
    add(vectorBatch(keys, seedOf))
  const nearest = async (seed: number, limit = 3) =>
    (await nearestIn(current().index, randomVector(seed), { limit })).map(({ key }) => key)

  describe('vectors', () => {
    it('are found by nothing in an empty index', async () => {
      expect(await nearest(1)).toEqual([])
      expect(await current().index.vectorKeys()).toEqual(new Uint32Array())
    })

    it('are found as soon as they are added, the nearest first', async () => {
      await addVectors([5, 6, 7, 8])
      expect((await nearest(7))[0]).toBe(7)
      const matches = await nearestIn(current().index, randomVector(6), { limit: 4 })
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
        await add(batch)
      }
      const matches = await nearestIn(current().index, randomVector(1), { limit: 100 })
      expect(new Set(matches.map(({ key }) => key)).size).toBe(100)
    })

    it('of a key that is there already are replaced', async () => {
      await addVectors([1, 2, 3])
      await addVectors([2], () => 99)
      expect((await nearest(99))[0]).toBe(2)
      expect(await current().index.vectorKeys()).toEqual(Uint32Array.of(1, 2, 3))
    })

    it('are removed with the chunk, and not added with it', async () => {
      await addTo(current().index, { 1: ['wing'], 2: ['wing'] })
      await addVectors([1, 3])
      await current().index.remove([1, 77])
      expect(await keysFor(current().index, ['wing'])).toEqual([2])
      expect(await nearest(1)).toEqual([3])
      expect(await current().index.vectorKeys()).toEqual(Uint32Array.of(3))
    })

    it('may have another dimension once none is left', async () => {
      await addVectors([1])
      await current().index.remove([1])
      const values = Float32Array.of(0, 1)
      await add({ keys: Uint32Array.of(2), dimension: 2, values })
      const [match] = await nearestIn(current().index, values, { limit: 1 })
      expect(match?.key).toBe(2)
    })

    it('of another dimension than the question do not match', async () => {
      await addVectors([1])
      expect(await nearestIn(current().index, Float32Array.of(1), { limit: 3 })).toEqual([])
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

    it('are searched only among the chunks that the filter accepts', async () => {
      const { index, source } = current()
      const keys = Array.from({ length: 500 }, (_, i) => i + 1)
      for (const key of keys) source.metadata.set(key, { ten: key % 10 === 0 && key <= 500 })
      await addVectors(keys)
      const filter = { field: 'ten', eq: true }
      const matches = await nearestIn(index, randomVector(21), { limit: 20, filter })
      expect(matches).toHaveLength(20)
      expect(matches.filter(({ key }) => key % 10 !== 0)).toEqual([])
      const [best] = await nearestIn(index, randomVector(240), { limit: 1, filter })
      expect(best?.key).toBe(240)
      const none = { field: 'ten', eq: 'none' }
      expect(await nearestIn(index, randomVector(1), { filter: none })).toEqual([])
    })

    const few = { field: 'key', in: [3, 5, 6, 15, 77, 78] }
    const many = ['wing', 'w3', 'w5', 'w6', 'w9', 'w12', 'w15']
    it.each([
      ['all', 'one word', undefined, ['wing']],
      ['a few', 'one word', few, ['wing']],
      ['all', 'many words', undefined, many],
    ])(
      'among %s are fused with %s as they would be from outside',
      async (_, _words, filter, words) => {
        const { index, source } = current()
        const keys = Array.from({ length: 200 }, (_, i) => i + 1)
        const termsOf = (key: number) => (key % 3 ? ['sail'] : ['wing', `w${key}`])
        const shareOf = (key: number) =>
          words.filter((word) => termsOf(key).includes(word)).length / words.length
        for (const key of keys) source.metadata.set(key, { key })
        const labels = keys.map((key) => labelsOf({ key }))
        await index.add(Uint32Array.from(keys), batchOf(keys.map(termsOf)), labels)
        // A candidate without a vector makes the words learn, as lexical search always does.
        await addVectors(keys.filter((key) => key % 5 !== 0))
        const vector = randomVector(77)
        const limits = { limit: 30, filter }
        const near = (await nearestIn(index, vector, limits)).map(({ key }) => key)
        const outside = await rankHybrid(
          {
            nearest: () => near,
            read: source.readVectors,
            shares: (wanted) => Float64Array.from(wanted, shareOf),
          },
          await searchIn(index, words, limits),
          { vector, terms: queryOf(words), limit: 30 },
        )
        const inside = await index.search(seen(filter), {
          mode: 'hybrid',
          terms: queryOf(words),
          vector: Promise.resolve(vector),
          limit: 30,
        })
        const stagesOf = (candidates: typeof outside.candidates) =>
          candidates
            .map(({ key, lexical, dense }) => ({ key, lexical, dense }))
            .toSorted((a, b) => a.key - b.key)
        const expected = stagesOf(outside.candidates)
        for (const candidate of expected) candidate.dense &&= expect.closeTo(candidate.dense, 1)
        expect(stagesOf(inside.candidates)).toEqual(expected)
        expect(inside).toMatchObject({ exhausted: outside.exhausted, degraded: false })
      },
    )

    it('yield to every word of the question, where few chunks have them all', async () => {
      const { index } = current()
      const keys = Array.from({ length: 30 }, (_, i) => i + 1)
      await addVectors(keys)
      const vector = randomVector(77)
      const farthest = (await nearestIn(index, vector, { limit: 30 })).at(-1)?.key ?? 0
      const termsOf = (key: number) =>
        key === farthest ? ['wing', 'tail', 'fin'] : ['wing', `w${key}`, 'fin']
      await index.add(Uint32Array.from(keys), batchOf(keys.map(termsOf)), [])
      const firstBy = async (...words: string[]) => {
        const query = { mode: 'hybrid', terms: queryOf(words), limit: 20 } as const
        const asked = { ...query, vector: Promise.resolve(vector) }
        return (await index.search(seen(), asked)).candidates[0]?.key
      }
      expect(await firstBy('wing', 'tail')).toBe(farthest)
      expect(await firstBy('wing', 'tail', 'rudder')).not.toBe(farthest)
    })

    it('are listed by key, also without terms of their chunks', async () => {
      await addVectors([1, 2, 3])
      await current().index.remove([2])
      expect([...(await current().index.vectorKeys())]).toEqual([1, 3])
      expect(await current().index.keys()).toHaveLength(0)
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
