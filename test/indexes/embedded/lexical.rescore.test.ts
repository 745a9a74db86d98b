import { describe, expect, it } from 'vitest'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical.ts'
import { chooseMerge, mergeSegments } from '../../../src/indexes/embedded/merge.ts'
import { addedTerms, FEEDBACK_CHUNKS, MIN_RESCORED } from '../../../src/indexes/feedback.ts'
import type { Ranking } from '../../../src/indexes/ranking.ts'
import { inverseFrequency, K1, lengthNorm, termWeight } from '../../../src/indexes/term-batch.ts'
import { batchOf, queryOf, termOf } from '../../contracts/chunk-index.fixture.ts'
import { type Chunk, createRandom, randomChunk, randomQuery } from './random-chunks.ts'

type Index = ReturnType<typeof createLexicalIndex>
const VOCABULARY = 400

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

/** What feedback does by its definition: a look at all terms of every chunk that was found. */
function searchByDefinition(
  { norm, idf, ...chunks }: ReturnType<typeof describeChunks>,
  query: Chunk,
  found: Ranking,
  limit: number,
) {
  const leading = Array.from(found.keys.slice(0, FEEDBACK_CHUNKS), (key, place) => {
    const entries = [...chunks.countsOf(key)].toSorted(([a], [b]) => a - b)
    return {
      key,
      score: found.scores[place] ?? 0,
      terms: entries.map(([term]) => term),
      weights: entries.map(([, count]) => termWeight(count, chunks.lengthOf(key), norm)),
    }
  })
  const added =
    leading.length < FEEDBACK_CHUNKS ? queryOf([]) : addedTerms(queryOf(query), leading, idf)
  const others = Array.from(found.keys, (key, place) => {
    const counts = chunks.countsOf(key)
    let score = found.scores[place] ?? 0
    added.terms.forEach((term, i) => {
      const count = counts.get(term) ?? 0
      const bound = (added.counts[i] ?? 0) * idf(term) * (K1 + 1)
      if (count > 0) {
        score += (bound * count) / (count + (norm.base + norm.slope * chunks.lengthOf(key)))
      }
    })
    return { key, score }
  }).toSorted((a, b) => b.score - a.score || a.key - b.key)
  const first = found.keys[0]
  const best = { key: first, score: others[0]?.score }
  const all = first === undefined ? [] : [best, ...others.filter(({ key }) => key !== first)]
  return all.slice(0, limit)
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

describe('A search with feedback', () => {
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
      const limit = 1 + random.below(300)
      const found = index.search(queryOf(query), Math.max(limit, MIN_RESCORED))
      const expected = searchByDefinition(described, query, found, limit)
      expect(toScored(index.searchWithFeedback(queryOf(query), limit))).toEqual(expected)
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
    const expected = toScored(one.searchWithFeedback(query, 50))
    expect(toScored(other.searchWithFeedback(query, 50))).toEqual(expected)
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
    const { scores } = index.searchWithFeedback(queryOf(['asked']), 10)
    scores.forEach((score, i) => {
      expect(score).toBeGreaterThanOrEqual(found.scores[i] ?? 0)
    })
  })
})
