import { describe, expect, it } from 'vitest'
import { rankHybrid } from '../../src/indexes/hybrid-ranking.ts'

const VECTORS: Record<number, number[]> = {
  1: [1, 0, 0],
  2: [0.8, 0.6, 0],
  3: [0.6, 0.8, 0],
  4: [0, 1, 0],
  5: [0, 0, 1],
}
const KEYS = Object.keys(VECTORS).map(Number)
const question = Float32Array.of(1, 0, 0)

/** Ranks by an index that knows each vector well; the vectors of `missing` cannot be read. */
function rank(
  lexical: { key: number; score: number }[],
  { limit, only, missing = [] }: { limit: number; only?: Uint32Array; missing?: number[] },
) {
  let looks = 0
  const source = {
    nearest() {
      looks += 1
      const scored = KEYS.map((key) => ({ key, score: dot(VECTORS[key], question) }))
      return scored
        .sort((a, b) => b.score - a.score || a.key - b.key)
        .slice(0, limit)
        .map(({ key }) => key)
    },
    read(keys: readonly number[]) {
      const found = keys.filter((key) => !missing.includes(key)).toSorted((a, b) => a - b)
      const values = Float32Array.from(found.flatMap((key) => VECTORS[key] ?? []))
      return { keys: Uint32Array.from(found), dimension: 3, values }
    },
  }
  const ranking = rankHybrid(source, lexical, { vector: question, limit, only })
  return ranking.then((found) => ({ ...found, looks }))
}

describe('A ranking by words and meaning', () => {
  it('orders what it found by the question moved to its first hits', async () => {
    const { candidates, looks } = await rank([{ key: 4, score: 9 }], { limit: 3 })
    expect(looks).toBe(1)
    const cosineOf = (wanted: number) => candidates.find(({ key }) => key === wanted)?.dense ?? 0
    // By itself the question is at a right angle to the key 4, which the words found.
    expect(cosineOf(4)).toBeGreaterThan(0.2)
    expect(cosineOf(1)).toBeLessThan(1)
  })

  it('compares every candidate, those of the words as well', async () => {
    const { candidates } = await rank([{ key: 5, score: 7 }], { limit: 2 })
    expect(candidates.map(({ key }) => key).toSorted()).toEqual([1, 2, 5])
    for (const { dense } of candidates) expect(dense).toEqual(expect.any(Number))
    expect(candidates.find(({ key }) => key === 5)).toMatchObject({ lexical: 7 })
  })

  it('passes over what has no vector, but for what the words found', async () => {
    const { candidates, exhausted } = await rank([{ key: 2, score: 7 }], {
      limit: 3,
      missing: [1, 2],
    })
    expect(candidates.map(({ key }) => key).toSorted()).toEqual([2, 3])
    expect(candidates.find(({ key }) => key === 2)?.dense).toBeUndefined()
    expect(exhausted).toBe(false)
  })

  it('compares all that a narrow filter leaves, and asks no index', async () => {
    const found = await rank([], { limit: 2, only: Uint32Array.of(3, 5) })
    expect(found.candidates.map(({ key }) => key)).toEqual([3, 5])
    expect(found).toMatchObject({ looks: 0, exhausted: true })
  })

  it('is exhausted where there are fewer of both than asked for', async () => {
    expect(await rank([], { limit: 6 })).toMatchObject({ exhausted: true })
    expect(await rank([], { limit: 5 })).toMatchObject({ exhausted: false })
    expect(await rank([{ key: 1, score: 1 }], { limit: 1 })).toMatchObject({ exhausted: false })
  })

  it('holds nothing where nothing is found', async () => {
    expect((await rank([], { limit: 3, missing: KEYS })).candidates).toEqual([])
  })
})

function dot(a: readonly number[] = [], b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}
