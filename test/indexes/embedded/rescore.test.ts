import { describe, expect, it } from 'vitest'
import type { Feedback, Ranking } from '../../../src/indexes/chunk-index.ts'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical.ts'
import { chooseMerge, mergeSegments } from '../../../src/indexes/embedded/merge.ts'
import { addedTerms, candidateTerms } from '../../../src/indexes/feedback.ts'
import { inverseFrequency, K1, lengthNorm } from '../../../src/indexes/term-batch.ts'
import { batchOf, queryOf, termOf } from '../../contracts/chunk-index.fixture.ts'
import { type Chunk, createRandom, randomChunk, randomQuery } from './random-chunks.ts'

type Index = ReturnType<typeof createLexicalIndex>
const VOCABULARY = 400

function feedbackFrom(found: Ranking, chunks: ReadonlyMap<number, Chunk>, most: number): Feedback {
  const keys = found.keys.slice(0, most)
  return {
    keys,
    terms: batchOf(Array.from(keys, (key) => chunks.get(key) ?? {})),
    weights: Float32Array.from(keys, (_, i) => 1 / (i + 1)),
    share: 0.5,
    found,
  }
}

const lengthOf = (chunk: Chunk) => Object.values(chunk).reduce((sum, count) => sum + count, 0)

/** The chunks with all that a definition needs to know of them. */
function describeChunks(chunks: ReadonlyMap<number, Chunk>) {
  const holding = new Map<number, number>()
  for (const word of chunks.values().flatMap((chunk) => Object.keys(chunk))) {
    holding.set(termOf(word), (holding.get(termOf(word)) ?? 0) + 1)
  }
  const total = chunks.values().reduce((sum, chunk) => sum + lengthOf(chunk), 0)
  const countsOf = (key: number) =>
    new Map(Object.entries(chunks.get(key) ?? {}).map(([word, count]) => [termOf(word), count]))
  return {
    norm: lengthNorm(chunks.size, total),
    idf: (term: number) => inverseFrequency(chunks.size, holding.get(term) ?? 0),
    countsOf,
    lengthOf: (key: number) => lengthOf(chunks.get(key) ?? {}),
  }
}

/** What the lift is by its definition: a look at all terms of every chunk that was found. */
function liftByDefinition(
  { norm, idf, ...chunks }: ReturnType<typeof describeChunks>,
  query: Chunk,
  feedback: Feedback,
) {
  const asked = queryOf(query)
  const added = addedTerms(asked, feedback, candidateTerms(asked, feedback, norm), idf)
  return Array.from(feedback.found.keys, (key, place) => {
    const counts = chunks.countsOf(key)
    let score = feedback.found.scores[place] ?? 0
    added.terms.forEach((term, i) => {
      const count = counts.get(term) ?? 0
      const bound = (added.counts[i] ?? 0) * idf(term) * (K1 + 1)
      if (count > 0) {
        score += (bound * count) / (count + (norm.base + norm.slope * chunks.lengthOf(key)))
      }
    })
    return { key, score }
  }).toSorted((a, b) => b.score - a.score || a.key - b.key)
}

function toScored({ keys, scores }: Ranking) {
  return Array.from(keys, (key, i) => ({ key, score: scores[i] }))
}

/** Adds the chunks in parts, in an order of keys that is not that of time, with some merges between them. */
function fill(index: Index, chunks: ReadonlyMap<number, Chunk>, random: () => number) {
  const keys = [...chunks.keys()].toSorted(() => random() - 0.5)
  for (let from = 0; from < keys.length; from += 60) {
    const part = keys.slice(from, from + 60)
    const terms = batchOf(part.map((key) => chunks.get(key) ?? {}))
    index.add(Uint32Array.from(part), terms, 0, part.length)
    const sources = random() < 0.5 ? chooseMerge(index.segments) : undefined
    if (sources) index.replace(sources, run(mergeSegments(sources)))
  }
}

function run<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

describe('The lift by feedback', () => {
  it.each([1, 2, 3, 4])('is to the last bit what a look at every term gives (seed %i)', (seed) => {
    const random = createRandom(seed)
    const chunks = new Map(
      Array.from({ length: 500 }, (_, i) => [7 * i + 3, randomChunk(random, VOCABULARY)]),
    )
    const index = createLexicalIndex([])
    fill(index, chunks, random.next)
    const described = describeChunks(chunks)
    for (let round = 0; round < 12; round++) {
      const query = randomQuery(random, VOCABULARY)
      const found = index.search(queryOf(query), 1 + random.below(300))
      const feedback = feedbackFrom(found, chunks, 1 + random.below(10))
      const limit = 1 + random.below(120)
      const expected = liftByDefinition(described, query, feedback).slice(0, limit)
      expect(toScored(index.rescore(queryOf(query), limit, feedback))).toEqual(expected)
    }
  })

  it('is the same however the chunks are spread over segments', () => {
    const random = createRandom(11)
    const chunks = new Map(
      Array.from({ length: 600 }, (_, key) => [key, randomChunk(random, VOCABULARY)]),
    )
    const one = createLexicalIndex([])
    const other = createLexicalIndex([])
    fill(one, chunks, () => 0.9)
    fill(other, chunks, createRandom(12).next)
    expect(one.segments.length).not.toBe(other.segments.length)
    const query = queryOf(randomQuery(random, VOCABULARY))
    const found = one.search(query, 200)
    const feedback = feedbackFrom(found, chunks, 10)
    const expected = toScored(one.rescore(query, 50, feedback))
    expect(toScored(other.rescore(query, 50, feedback))).toEqual(expected)
  })

  it('finds nothing by what it adds, and moves what was found', () => {
    const chunks = new Map<number, Chunk>([
      [1, { asked: 1, far: 3 }],
      [2, { asked: 1, near: 3 }],
      [3, { near: 9, pad: 1 }],
      [4, { pad: 4 }],
    ])
    const index = createLexicalIndex([])
    index.add(Uint32Array.from(chunks.keys()), batchOf([...chunks.values()]), 0, 4)
    const found = index.search(queryOf(['asked']), 4)
    expect([...found.keys]).toEqual([1, 2])
    const feedback = {
      keys: Uint32Array.of(9),
      terms: batchOf([{ asked: 1, near: 1 }]),
      weights: Float32Array.of(1),
      share: 0.5,
      found,
    }
    const { keys, scores } = index.rescore(queryOf(['asked']), 4, feedback)
    expect([...keys]).toEqual([2, 1])
    expect(scores[0]).toBeGreaterThan(scores[1] ?? 0)
    expect(scores[1]).toBe(found.scores[0])
  })

  it('leaves a chunk that was removed meanwhile where it is, for the document store to tell', () => {
    const index = createLexicalIndex([])
    const chunks = [{ asked: 2 }, { asked: 1, near: 1 }, { asked: 1, near: 2 }, { pad: 9 }]
    index.add(Uint32Array.of(1, 2, 3, 4), batchOf(chunks), 0, 4)
    const found = index.search(queryOf(['asked']), 3)
    index.remove([3])
    const feedback = {
      keys: Uint32Array.of(2),
      terms: batchOf([{ asked: 1, near: 1 }]),
      weights: Float32Array.of(1),
      share: 0.5,
      found,
    }
    const { keys, scores } = index.rescore(queryOf(['asked']), 3, feedback)
    expect([...keys].toSorted()).toEqual([1, 2, 3])
    expect(scores[[...keys].indexOf(3)]).toBe(found.scores[[...found.keys].indexOf(3)])
    expect(scores[[...keys].indexOf(2)]).toBeGreaterThan(
      found.scores[[...found.keys].indexOf(2)] ?? 0,
    )
  })

  it('weighs a term by fewer chunks than there are, though removed ones hold it as well', () => {
    const index = createLexicalIndex([])
    const common = Array.from({ length: 8 }, (_, i) => `common${i}`)
    const asked = Array.from({ length: 10 }, () => ['asked', ...common])
    const others = Array.from({ length: 90 }, () => common)
    const keys = Uint32Array.from({ length: 100 }, (_, i) => i)
    index.add(keys, batchOf([...asked, ...others]), 0, 100)
    index.remove(keys.slice(75))
    const found = index.search(queryOf(['asked']), 10)
    const feedback = {
      keys: keys.slice(0, 8),
      terms: batchOf(asked.slice(0, 8)),
      weights: new Float32Array(8).fill(1),
      share: 0.5,
      found,
    }
    const { scores } = index.rescore(queryOf(['asked']), 10, feedback)
    scores.forEach((score, i) => {
      expect(score).toBeGreaterThanOrEqual(found.scores[i] ?? 0)
    })
  })
})
