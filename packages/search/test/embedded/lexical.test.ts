import { describe, expect, it } from 'vitest'
import { long, someOf } from '../../../../test/support/long.ts'
import { createRandom } from '../../../../test/support/random.ts'
import { createLexicalIndex } from '../../src/embedded/lexical.ts'
import { chooseMerge, mergeSegments } from '../../src/embedded/merge.ts'
import { createScopes } from '../../src/embedded/scope.ts'
import { MAX_CHUNKS_BUILT } from '../../src/embedded/segment.ts'
import type { Ranking } from '../../src/ranking.ts'
import { batchOf, queryOf } from '../contracts/chunk-index.fixture.ts'
import { type Chunk, randomChunk, randomQuery, rankByDefinition } from './random-chunks.ts'

const VOCABULARY = 800

/** An index and, beside it, the plain truth of what it should hold. */
function createPair(seed: number) {
  const random = createRandom(seed)
  const index = createLexicalIndex([])
  const truth = new Map<number, Chunk>()
  let nextKey = 1

  const add = (size: number) => {
    const added = new Map<number, Chunk>()
    for (let i = 0; i < size; i++) {
      // One chunk in ten replaces an older one, so that the keys of segments interleave.
      const old = random.next() < 0.1 ? random.pick([...truth.keys()]) : undefined
      added.set(old ?? nextKey++, randomChunk(random, VOCABULARY))
    }
    for (const [key, chunk] of added) truth.set(key, chunk)
    index.add(Uint32Array.from(added.keys()), batchOf([...added.values()]), 0, added.size)
  }
  const remove = (share: number) => {
    const gone = truth
      .keys()
      .filter(() => random.next() < share)
      .toArray()
    for (const key of gone) truth.delete(key)
    index.remove(gone)
  }
  /** Merges what the policy chooses, with a look between its steps. */
  const merge = (look: () => void = () => undefined): boolean => {
    const sources = chooseMerge(index.segments)
    if (!sources) return false
    index.replace(sources, runWith(mergeSegments(sources), look))
    return true
  }
  return { random, index, truth, add, remove, merge }
}

function runWith<Result>(merge: Generator<void, Result>, look: () => void): Result {
  for (;;) {
    const step = merge.next()
    if (step.done) return step.value
    look()
  }
}

function toScored({ keys, scores }: Ranking) {
  return Array.from(keys, (key, i) => ({ key, score: scores[i] }))
}

describe('The lexical index', () => {
  it.each(someOf([1, 2, 3], 1))(
    'scores exactly as BM25 is defined, through changes and merges (seed %i)',
    long,
    (seed) => {
      const { random, index, truth, add, remove, merge } = createPair(seed)
      for (let round = 0; round < 40; round++) {
        add(1 + random.below(MAX_CHUNKS_BUILT))
        if (random.next() < 0.3) remove(0.15)
        while (random.next() < 0.8 && merge());
        for (let i = 0; i < 3; i++) {
          const query = randomQuery(random, VOCABULARY + 20)
          const limit = 1 + random.below(20)
          expect(toScored(index.search(queryOf(query), limit))).toEqual(
            rankByDefinition(truth, query, limit),
          )
        }
        expect(index.keys()).toHaveLength(truth.size)
      }
      expect([...index.keys()]).toEqual([...truth.keys()].toSorted((a, b) => a - b))
    },
  )

  it('ranks the keys of a scope exactly while chunks come and go', () => {
    const { random, index, truth, add, remove, merge } = createPair(11)
    add(MAX_CHUNKS_BUILT)
    const only = Uint32Array.from({ length: 5_000 }, (_, i) => 2 * i)
    const scope = createScopes(4_096).keep(1, only)
    const keys = new Set(only)
    for (let round = 0; round < 40; round++) {
      if (random.next() < 0.5) add(1 + random.below(MAX_CHUNKS_BUILT))
      if (random.next() < 0.5) remove(0.1)
      while (random.next() < 0.4 && merge());
      const query = randomQuery(random, VOCABULARY + 20)
      const ranked = rankByDefinition(truth, query, truth.size)
      const expected = ranked.filter(({ key }) => keys.has(key)).slice(0, 10)
      expect(toScored(index.search(queryOf(query), 10, scope))).toEqual(expected)
    }
  })

  it.each(someOf([0.001, 0.02, 0.5, 0.98], 1))(
    'ranks some keys exactly as a full scan does (share %d)',
    long,
    (share) => {
      const { random, index, truth, add, remove, merge } = createPair(9)
      for (let round = 0; round < 30; round++) {
        add(1 + random.below(MAX_CHUNKS_BUILT))
        if (random.next() < 0.3) remove(0.15)
        while (random.next() < 0.6 && merge());
        const keys = new Set([...truth.keys()].filter(() => random.next() < share))
        const only = Uint32Array.from(keys).sort()
        const query = randomQuery(random, VOCABULARY + 20)
        const limit = 1 + random.below(20)
        const expected = rankByDefinition(truth, query, truth.size).filter(({ key }) =>
          keys.has(key),
        )
        const found = toScored(index.search(queryOf(query), limit, createScopes().keep(1, only)))
        expect(found).toEqual(expected.slice(0, limit))
      }
    },
  )

  it('ranks the same before, during and after a merge', () => {
    const { random, index, add, merge } = createPair(5)
    for (let i = 0; i < 8; i++) add(100)
    const query = queryOf(randomQuery(random, VOCABULARY))
    const before = toScored(index.search(query, 20))
    let steps = 0
    merge(() => {
      steps++
      expect(toScored(index.search(query, 20))).toEqual(before)
    })
    expect(steps).toBeGreaterThan(2)
    expect(index.segments).toHaveLength(1)
    expect(toScored(index.search(query, 20))).toEqual(before)
  })

  it('keeps few segments however small the additions, and frees the memory of removed chunks', () => {
    const { index, add, remove, merge } = createPair(6)
    for (let i = 0; i < 2_000; i++) {
      add(1)
      while (merge());
    }
    // Seven of each size below a merge of eight.
    expect(index.segments.length).toBeLessThanOrEqual(7 * 4)
    const bytes = () => index.segments.reduce((sum, segment) => sum + segment.bytes.byteLength, 0)
    const full = bytes()
    remove(0.9)
    while (merge());
    expect(bytes()).toBeLessThan(full / 4)
    remove(1)
    expect([index.keys().length, index.segments.length]).toEqual([0, 0])
  })

  it('scores a term that occurs 255 times, in the shortest and the longest chunk', () => {
    const index = createLexicalIndex([])
    const chunks = [{ wing: 255 }, { wing: 255, pad: 255 }, { pad: 1 }]
    index.add(Uint32Array.of(1, 2, 3), batchOf(chunks), 0, 3)
    const truth = new Map<number, Chunk>(chunks.map((chunk, i) => [i + 1, chunk]))
    expect(toScored(index.search(queryOf(['wing']), 5))).toEqual(
      rankByDefinition(truth, { wing: 1 }, 5),
    )
  })

  it('does not count removed chunks when it prunes', () => {
    const index = createLexicalIndex([])
    const rare = Array.from({ length: 6 }, () => ({ rare: 9, common: 1 }))
    const common = Array.from({ length: 100 }, () => ({ common: 1 }))
    index.add(
      Uint32Array.from({ length: 106 }, (_, i) => i),
      batchOf([...rare, ...common]),
      0,
      106,
    )
    index.remove([0, 1, 2, 3, 4])
    expect([...index.search(queryOf(['rare', 'common']), 3).keys]).toEqual([5, 6, 7])
  })
})
