import { describe, expect, it } from 'vitest'
import type { NearestQuery } from '../../../src/indexes/chunk-index.ts'
import { rankHybrid } from '../../../src/services/retrieval/fuse.ts'

const VECTORS: Record<number, number[]> = {
  1: [1, 0, 0],
  2: [0.8, 0.6, 0],
  3: [0.6, 0.8, 0],
  4: [0, 1, 0],
  5: [0, 0, 1],
}
const KEYS = Object.keys(VECTORS).map(Number)

/** An index that knows each vector well, and a document store that lacks some. */
function createForTest(missing: readonly number[] = []) {
  const questions: Float32Array[] = []
  return {
    questions,
    meaning: {
      async nearest({ vector, limit }: NearestQuery) {
        questions.push(vector)
        const scored = KEYS.map((key) => ({ key, score: dot(VECTORS[key], vector) }))
        return scored.sort((a, b) => b.score - a.score).slice(0, limit)
      },
      async readVectors(keys: readonly number[]) {
        const found = keys.filter((key) => !missing.includes(key)).toSorted((a, b) => a - b)
        const values = Float32Array.from(found.flatMap((key) => VECTORS[key] ?? []))
        return { keys: Uint32Array.from(found), dimension: 3, values }
      },
    },
  }
}

const question = Float32Array.of(1, 0, 0)
const asked = (limit: number) => ({ vector: question, limit })

describe('A ranking by words and meaning', () => {
  it('looks a second time, from where the question and its first hits lie', async () => {
    const { meaning, questions } = createForTest()
    await rankHybrid(meaning, [], asked(3))
    expect(questions).toHaveLength(2)
    const [, moved = new Float32Array()] = questions
    expect(Math.hypot(...moved)).toBeCloseTo(1, 5)
    expect(moved[0]).toBeLessThan(1)
    expect(moved[1]).toBeGreaterThan(0)
  })

  it('compares every candidate exactly, those of the words as well', async () => {
    const { meaning } = createForTest()
    const { candidates } = await rankHybrid(meaning, [{ key: 5, score: 7 }], asked(2))
    const byWords = candidates.find(({ key }) => key === 5)
    expect(byWords).toMatchObject({ lexical: 7, dense: expect.any(Number) })
    expect(candidates.find(({ key }) => key === 1)).toMatchObject({ dense: expect.any(Number) })
  })

  it('holds what only the second look finds, compared like all others', async () => {
    const { meaning } = createForTest()
    let looks = 0
    const nearest = async () => [{ key: ++looks, score: 1 }]
    const { candidates } = await rankHybrid({ ...meaning, nearest }, [], asked(1))
    expect(candidates).toMatchObject([
      { key: 1, dense: expect.closeTo(1) },
      { key: 2, dense: expect.closeTo(0.8) },
    ])
  })

  it('passes over what the document store does not have', async () => {
    const { meaning } = createForTest([1, 2])
    const { candidates, exhausted } = await rankHybrid(meaning, [], asked(3))
    expect(candidates.map(({ key }) => key)).not.toContain(1)
    expect(exhausted).toBe(false)
  })

  it('compares all that a narrow filter leaves, and asks no index', async () => {
    const { meaning, questions } = createForTest()
    const query = { ...asked(2), only: Uint32Array.of(3, 5) }
    const { candidates, exhausted } = await rankHybrid(meaning, [], query)
    expect(candidates.map(({ key }) => key)).toEqual([3, 5])
    expect(questions).toEqual([])
    expect(exhausted).toBe(true)
  })

  it('is exhausted where there are fewer vectors than asked for', async () => {
    const { meaning } = createForTest()
    expect(await rankHybrid(meaning, [], asked(6))).toMatchObject({ exhausted: true })
    expect(await rankHybrid(meaning, [], asked(5))).toMatchObject({ exhausted: false })
  })

  it('stays where the question is when nothing is found', async () => {
    const { meaning, questions } = createForTest(KEYS)
    const { candidates } = await rankHybrid(meaning, [], asked(3))
    expect(candidates).toEqual([])
    expect(questions[1]).toEqual(question)
  })
})

function dot(a: readonly number[] = [], b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}
