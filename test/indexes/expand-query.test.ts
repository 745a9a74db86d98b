import { expect, it } from 'vitest'
import type { ChunkText } from '../../src/indexes/analyser.ts'
import { createAnalyser } from '../../src/indexes/analyser.ts'
import { inverseFrequency } from '../../src/indexes/bm25.ts'
import type { Feedback } from '../../src/indexes/chunk-index.ts'
import { expandQuery } from '../../src/indexes/expand-query.ts'

const analyser = createAnalyser('none')
const chunk = (text: string): ChunkText => ({ heading: '', text })
const feedbackOf = (texts: readonly string[], weights = texts.map(() => 1)): Feedback => ({
  keys: Uint32Array.from(texts, (_, i) => i),
  terms: analyser.batch(texts.map(chunk)),
  weights: Float32Array.from(weights),
})

/** A thousand chunks of average length, of which each term is held by as many as `holding` says, or ten. */
const statistics = (holding: Record<string, number> = {}) => {
  const held = new Map(Object.entries(holding).map(([word, count]) => [hash(word), count]))
  return {
    norm: { base: 0.375, slope: 0.1 },
    rarity: (term: number) => inverseFrequency(1_000, held.get(term) ?? 10),
  }
}

const hash = (word: string) => analyser.query(word).terms[0] ?? 0

function weightsOf(query: string, feedback: Feedback, holding?: Record<string, number>) {
  const { terms, counts } = expandQuery(analyser.query(query), feedback, statistics(holding))
  const byTerm = new Map([...terms].map((term, i) => [term, counts[i] ?? 0]))
  return (word: string) => byTerm.get(hash(word)) ?? 0
}

it('adds what the chunks share, and nothing that one alone has', () => {
  const weight = weightsOf('engine', feedbackOf(['engine turbine blade', 'turbine exhaust']))
  expect(weight('turbine')).toBeGreaterThan(0)
  expect(weight('blade')).toBe(0)
  expect(weight('exhaust')).toBe(0)
})

it('keeps the words of the query twice as heavy as all that is added', () => {
  const weight = weightsOf('engine', feedbackOf(['turbine blade', 'turbine blade']))
  expect(weight('engine')).toBe(1)
  expect(weight('turbine') + weight('blade')).toBeCloseTo(0.5)
})

it('gives a rare term more than a common one, and a term of the better chunks more', () => {
  const holding = { turbine: 5, report: 900 }
  const both = feedbackOf(['turbine report', 'turbine report'])
  const rarity = weightsOf('engine', both, holding)
  expect(rarity('turbine')).toBeGreaterThan(rarity('report'))

  const texts = ['blade fan', 'blade fan', 'fan duct', 'duct fan']
  const trust = weightsOf('engine', feedbackOf(texts, [1, 1, 0.1, 0.1]))
  expect(trust('blade')).toBeGreaterThan(trust('duct'))
})

it('adds thirty terms at most', () => {
  const words = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ')
  const { terms } = expandQuery(analyser.query('engine'), feedbackOf([words, words]), statistics())
  expect(terms).toHaveLength(31)
})

it('leaves the query as it is where the chunks share nothing', () => {
  const query = analyser.query('engine')
  expect(expandQuery(query, feedbackOf(['turbine', 'blade']), statistics())).toBe(query)
})
