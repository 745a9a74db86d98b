import { expect, it } from 'vitest'
import { type ChunkText, createAnalyser } from '../../src/indexes/analyser/analyser.ts'
import type { Feedback } from '../../src/indexes/chunk-index.ts'
import { addedTerms, candidateTerms } from '../../src/indexes/feedback.ts'
import { inverseFrequency } from '../../src/indexes/term-batch.ts'

const analyser = createAnalyser('none')
const NORM = { base: 0.375, slope: 0.1 }
const chunk = (text: string): ChunkText => ({ heading: '', text })
const feedbackOf = (texts: readonly string[], weights = texts.map(() => 1)): Feedback => ({
  keys: Uint32Array.from(texts, (_, i) => i),
  terms: analyser.batch(texts.map(chunk)),
  weights: Float32Array.from(weights),
  share: 0.5,
  found: { keys: new Uint32Array(), scores: new Float64Array() },
})

const hash = (word: string) => analyser.query(word).terms[0] ?? 0

/** What is added among a thousand chunks, of which each term is held by as many as `holding` says, or ten. */
function weightsOf(query: string, feedback: Feedback, holding: Record<string, number> = {}) {
  const held = new Map(Object.entries(holding).map(([word, count]) => [hash(word), count]))
  const terms = analyser.query(query)
  const added = addedTerms(terms, feedback, candidateTerms(terms, feedback, NORM), (term) =>
    inverseFrequency(1_000, held.get(term) ?? 10),
  )
  const byTerm = new Map([...added.terms].map((term, i) => [term, added.counts[i] ?? 0]))
  return { size: byTerm.size, of: (word: string) => byTerm.get(hash(word)) ?? 0 }
}

it('adds what the chunks say beyond the query, and none of its own words', () => {
  const added = weightsOf('engine', feedbackOf(['engine turbine blade', 'turbine engine']))
  expect(added.size).toBe(2)
  expect(added.of('turbine')).toBeGreaterThan(added.of('blade'))
  expect(added.of('blade')).toBeGreaterThan(0)
  expect(added.of('engine')).toBe(0)
})

it('gives all that is added its share of what the query weighs', () => {
  const one = weightsOf('engine', feedbackOf(['turbine blade', 'turbine blade']))
  expect(one.of('turbine') + one.of('blade')).toBeCloseTo(0.5)
  const three = weightsOf('engine engine room', feedbackOf(['turbine blade']))
  expect(three.of('turbine') + three.of('blade')).toBeCloseTo(1.5)
})

it('gives a rare term more than a common one, and a term of the better chunks more', () => {
  const holding = { turbine: 5, report: 900 }
  const idf = weightsOf('engine', feedbackOf(['turbine report', 'turbine report']), holding)
  expect(idf.of('turbine')).toBeGreaterThan(idf.of('report'))

  const texts = ['blade fan', 'blade fan', 'fan duct', 'duct fan']
  const trust = weightsOf('engine', feedbackOf(texts, [1, 1, 0.1, 0.1]))
  expect(trust.of('blade')).toBeGreaterThan(trust.of('duct'))
})

it('adds forty terms at most, and asks of sixty-four how rare they are', () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ')
  const feedback = feedbackOf([words, words])
  expect(weightsOf('engine', feedback).size).toBe(40)
  expect(candidateTerms(analyser.query('engine'), feedback, NORM).keys).toHaveLength(64)
})

it('adds nothing where the chunks say no more than the query does', () => {
  expect(weightsOf('engine room', feedbackOf(['engine', 'room engine'])).size).toBe(0)
  expect(weightsOf('engine', feedbackOf([])).size).toBe(0)
})
