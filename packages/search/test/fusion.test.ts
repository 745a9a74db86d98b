import { describe, expect, it } from 'vitest'
import { cosinesTo, fuse as fuseColumns, rankHybrid, wordsOf } from '../src/fusion.ts'

const VECTORS: Record<number, number[]> = {
  1: [1, 0, 0],
  2: [0.8, 0.6, 0],
  3: [0.6, 0.8, 0],
  4: [0, 1, 0],
  5: [0, 0, 1],
}
const KEYS = Object.keys(VECTORS).map(Number)
const question = Float32Array.of(1, 0, 0)

interface Circumstances {
  limit: number
  termCount?: number
  total?: number
  missing?: number[]
  shares?: (keys: Uint32Array) => Float64Array
}

const noShares = (keys: Uint32Array) => new Float64Array(keys.length)

/** Ranks by an index that knows each vector well; the vectors of `missing` cannot be read. */
function rank(
  lexical: { key: number; score: number }[],
  { limit, termCount = 1, total, missing = [], shares = noShares }: Circumstances,
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
    shares,
  }
  const ranking = rankHybrid(source, lexical, {
    vector: question,
    terms: { terms: new Uint32Array(termCount), ...(total !== undefined && { total }) },
    limit,
  })
  return ranking.then((found) => ({ ...found, looks }))
}

describe('A ranking by words and meaning', () => {
  it('orders the candidates of a short question by the question itself', async () => {
    const { candidates } = await rank([{ key: 4, score: 9 }], { limit: 3, termCount: 5 })
    const cosines = candidates.map(({ key, dense }) => [key, dense])
    expect(cosines.toSorted()).toEqual([
      [1, 1],
      [2, expect.closeTo(0.8)],
      [3, expect.closeTo(0.6)],
      [4, 0],
    ])
  })

  it('orders the candidates of a long question by the question moved towards its first hits', async () => {
    const { candidates, looks } = await rank([{ key: 4, score: 9 }], { limit: 3, termCount: 6 })
    expect(looks).toBe(1)
    const cosineOf = (wanted: number) => candidates.find(({ key }) => key === wanted)?.dense ?? 0
    // By itself the question is at a right angle to the key 4, which the words found.
    expect(cosineOf(4)).toBeGreaterThan(0.1)
    expect(cosineOf(1)).toBeLessThan(1)
  })

  it('compares every candidate with the question, lexical matches included', async () => {
    const { candidates } = await rank([{ key: 5, score: 7 }], { limit: 2 })
    expect(candidates.map(({ key }) => key).toSorted()).toEqual([1, 2, 5])
    for (const { dense } of candidates) expect(dense).toEqual(expect.any(Number))
    expect(candidates.find(({ key }) => key === 5)).toMatchObject({ lexical: 7 })
  })

  it('looks for every word in the best lexical matches', async () => {
    const looked: number[] = []
    const shares = (keys: Uint32Array) => {
      looked.push(...keys)
      return new Float64Array(keys.length)
    }
    const found = Array.from({ length: 20 }, (_, i) => ({ key: 30 - i, score: 50 - i }))
    await rank(found, { limit: 20, shares })
    expect(looked).toEqual(found.slice(0, 16).map(({ key }) => key))
  })

  it('looks for every word in none where some terms stand for others', async () => {
    const looked: number[] = []
    const shares = (keys: Uint32Array) => {
      looked.push(...keys)
      return new Float64Array(keys.length)
    }
    await rank([{ key: 4, score: 9 }], { limit: 3, total: 1, shares })
    expect(looked).toEqual([])
  })

  it('omits what has no vector, except lexical matches', async () => {
    const { candidates, exhausted } = await rank([{ key: 2, score: 7 }], {
      limit: 3,
      missing: [1, 2],
    })
    expect(candidates.map(({ key }) => key).toSorted()).toEqual([2, 3])
    expect(candidates.find(({ key }) => key === 2)?.dense).toBeUndefined()
    expect(exhausted).toBe(false)
  })

  it('is exhausted if both rankings are shorter than the limit', async () => {
    expect(await rank([], { limit: 6 })).toMatchObject({ exhausted: true })
    expect(await rank([], { limit: 5 })).toMatchObject({ exhausted: false })
    expect(await rank([{ key: 1, score: 1 }], { limit: 1 })).toMatchObject({ exhausted: false })
  })

  it('is empty if nothing matches', async () => {
    expect((await rank([], { limit: 3, missing: KEYS })).candidates).toEqual([])
  })
})

function dot(a: readonly number[] = [], b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}

const words = (scores: Record<number, number>) =>
  Object.entries(scores).map(([key, score]) => ({ key: Number(key), score }))
const meaning = (scores: Record<number, number>) =>
  new Map(Object.entries(scores).map(([key, score]) => [Number(key), score]))
const fuse = (
  lexical: ReturnType<typeof words>,
  near: Map<number, number>,
  { limit = 100, complete = [] }: { limit?: number; complete?: readonly number[] } = {},
) =>
  fuseColumns(
    wordsOf(lexical, limit, complete),
    Uint32Array.from(near.keys()),
    Float64Array.from(near.values()),
  )
const passages = (scored: (key: number) => number) =>
  Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i + 1, scored(i + 1)]))
const scoreOf = (candidates: readonly { key: number; score: number }[], wanted: number) =>
  candidates.find(({ key }) => key === wanted)?.score ?? Number.NaN
const keysOf = (candidates: readonly { key: number }[]) => candidates.map(({ key }) => key)

/** The standard deviation. */
function spreadOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.hypot(...values.map((value) => value - mean)) / Math.sqrt(values.length)
}

describe('Two rankings fused', () => {
  it('put first what ranks high in both', () => {
    const fused = fuse(words({ 1: 10, 2: 9 }), meaning({ 1: 0.2, 2: 0.8, 3: 0.9 }))
    expect(keysOf(fused)[0]).toBe(2)
  })

  it('hold every candidate once, with the score of each stage', () => {
    const fused = fuse(words({ 1: 10, 2: 5 }), meaning({ 2: 0.5, 3: 0.9 }))
    expect(fused.toSorted((a, b) => a.key - b.key)).toMatchObject([
      { key: 1, lexical: 10 },
      { key: 2, lexical: 5, dense: 0.5 },
      { key: 3, dense: 0.9 },
    ])
  })

  it('keep the lexical place of what has no vector yet', () => {
    const found = words({ 1: 9, 2: 8, 3: 7, 4: 6, 5: 5, 6: 4 })
    const near = meaning({ 2: 0.1, 4: 0.9, 5: 0.5, 7: 0.8 })
    // The places of 2, 4 and 5 go to 4, 7 and 5: near as they are, they cannot push 1, 3 and 6 down.
    expect(keysOf(fuse(found, near))).toEqual([1, 4, 3, 7, 5, 6, 2])
    expect(keysOf(fuse(found, new Map()))).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('follow the lexical ranking if its best match stands out, and the vectors if many match equally', () => {
    const near = meaning(passages((key) => (key === 1 ? 0.3 : key === 20 ? 0.4 : key / 100)))
    const [alone, among] = [words({ 1: 9 }), words(passages((key) => (key <= 10 ? 9 : 5)))]
    expect(keysOf(fuse(alone, near)).slice(0, 2)).toEqual([1, 20])
    expect(keysOf(fuse(among, near)).slice(0, 2)).toEqual([20, 1])
  })

  it('score a passage outside of a full lexical list half as high as the last one in it', () => {
    const near = meaning(passages((key) => (key === 20 ? 0.4 : 0.2)))
    const full = words({ 1: 9, 2: 8 })
    const [none, half] = [100, 2].map((limit) => {
      const fused = fuse(full, near, { limit })
      return scoreOf(fused, 1) - scoreOf(fused, 2)
    })
    // Standard scores of 9, 8 and eighteen times 0 or 4.
    expect(none).toBeCloseTo(0.3 / spreadOf([9, 8, ...Array(18).fill(0)]), 6)
    expect(half).toBeCloseTo(0.3 / spreadOf([9, 8, ...Array(18).fill(4)]), 6)
  })

  it('order equally near passages by their lexical scores', () => {
    expect(keysOf(fuse(words({ 1: 9 }), meaning({ 1: 0.62, 2: 0.64 })))).toEqual([1, 2])
    expect(keysOf(fuse(words({ 1: 9 }), meaning({ 1: 0.12, 2: 0.64 })))).toEqual([2, 1])
  })

  it('follow the lexical ranking if all are equally near', () => {
    const near = meaning(passages(() => 0.1 + 0.2))
    expect(keysOf(fuse(words({ 7: 9 }), near))[0]).toBe(7)
  })

  it('put first what has every word and stands out, where others are nearer', () => {
    const near = meaning(passages((key) => 0.3 + key / 1_000))
    const found = words(passages((key) => (key === 1 ? 9 : 8)))
    expect(keysOf(fuse(found, near))[0]).toBe(20)
    expect(keysOf(fuse(found, near, { complete: [1] }))[0]).toBe(1)
    // Of three that match as well, none stands out.
    const many = words(passages((key) => (key <= 3 ? 9 : 8)))
    expect(keysOf(fuse(many, near, { complete: [1, 2, 3] }))[0]).toBe(20)
  })

  it('order equal scores by key', () => {
    expect(keysOf(fuse([], meaning({ 9: 0.5, 4: 0.5, 7: 0.5 })))).toEqual([4, 7, 9])
  })

  it('are empty where both are', () => {
    expect(fuse([], new Map())).toEqual([])
  })
})

it('cosines are those of each vector, whole or scaled', () => {
  const kept = {
    keys: Uint32Array.of(3, 8),
    dimension: 2,
    values: Float32Array.of(1, 0, 0.6, 0.8),
  }
  const question = Float32Array.of(0, 1)
  expect(cosinesTo(question, kept)[0]).toBe(0)
  expect(cosinesTo(question, kept)[1]).toBeCloseTo(0.8, 6)
  const scaled = {
    ...kept,
    values: Int8Array.of(127, 0, 93, 124),
    scales: Float32Array.of(1 / 127, 1 / 155),
  }
  expect(cosinesTo(question, scaled)[0]).toBe(0)
  expect(cosinesTo(question, scaled)[1]).toBeCloseTo(0.8, 6)
  const picked = { ...scaled, keys: Uint32Array.of(8), rows: Uint32Array.of(1) }
  expect([...cosinesTo(question, picked)]).toEqual([expect.closeTo(0.8, 6)])
})

it.each([1, 8, 13, 384])(
  'cosines of 8-bit vectors of %d numbers are those of the same floats',
  (dimension) => {
    const numbers = (length: number, largest: number) =>
      Array.from({ length }, (_, i) => Math.round(Math.sin(i * 7 + length) * largest))
    const keys = Uint32Array.of(1, 2, 3)
    const values = Int8Array.from(numbers(3 * dimension, 127))
    const question = Float32Array.from(numbers(dimension, 1_000), (value) => value / 1_000)
    const exact = cosinesTo(question, { keys, dimension, values: Float32Array.from(values) })
    const found = cosinesTo(question, {
      keys,
      dimension,
      values,
      scales: Float32Array.of(1, 0.5, 2),
    })
    expect([...found]).toEqual(
      [1, 0.5, 2].map((scale, i) => expect.closeTo((exact[i] ?? 0) * scale, 2)),
    )
  },
)
