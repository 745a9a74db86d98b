import { describe, expect, it } from 'vitest'
import { type ChunkText, createAnalyser } from '../../src/indexes/analyser/analyser.ts'
import { addedTerms, rescoreByOthers, type WeighedMatch } from '../../src/indexes/feedback.ts'
import { inverseFrequency } from '../../src/indexes/term-batch.ts'

const analyser = createAnalyser('none')
const chunk = (text: string): ChunkText => ({ heading: '', text })
const matchOf = (text: string, key: number, score: number): WeighedMatch => {
  const { terms, counts } = analyser.batch([chunk(text)])
  return { key, score, terms, weights: Float64Array.from(counts) }
}
/** Of fifth roots of the weights, since a match weighs as much as the fifth power of its score. */
const matchesOf = (texts: readonly string[], weights = texts.map(() => 1)) =>
  texts.map((text, key) => matchOf(text, key, (weights[key] ?? 0) ** (1 / 5)))

const hash = (word: string) => analyser.query(word).terms[0] ?? 0

/** What is added among a thousand chunks, of which each term is held by as many as `holding` says, or ten. */
function weightsOf(
  query: string,
  found: readonly WeighedMatch[],
  holding: Record<string, number> = {},
) {
  const held = new Map(Object.entries(holding).map(([word, count]) => [hash(word), count]))
  const asked: number[] = []
  const added = addedTerms(analyser.query(query), found, (term) => {
    asked.push(term)
    return inverseFrequency(1_000, held.get(term) ?? 10)
  })
  const byTerm = new Map([...added.terms].map((term, i) => [term, added.counts[i] ?? 0]))
  return { asked, size: byTerm.size, of: (word: string) => byTerm.get(hash(word)) ?? 0 }
}

it('adds what the chunks say beyond the query, and none of its own words', () => {
  const added = weightsOf('engine', matchesOf(['engine turbine blade', 'turbine engine']))
  expect(added.size).toBe(2)
  expect(added.of('turbine')).toBeGreaterThan(added.of('blade'))
  expect(added.of('blade')).toBeGreaterThan(0)
  expect(added.of('engine')).toBe(0)
})

it('gives all that is added its share of what the query weighs', () => {
  const one = weightsOf('engine', matchesOf(['turbine blade', 'turbine blade']))
  expect(one.of('turbine') + one.of('blade')).toBeCloseTo(0.5)
  const three = weightsOf('engine engine room', matchesOf(['turbine blade']))
  expect(three.of('turbine') + three.of('blade')).toBeCloseTo(1.5)
})

it('gives a rare term more than a common one, and a term of the better chunks more', () => {
  const holding = { turbine: 5, report: 900 }
  const idf = weightsOf('engine', matchesOf(['turbine report', 'turbine report']), holding)
  expect(idf.of('turbine')).toBeGreaterThan(idf.of('report'))

  const trust = weightsOf('engine', matchesOf(['blade fan', 'fan duct'], [1, 0.1]))
  expect(trust.of('blade')).toBeGreaterThan(trust.of('duct'))
})

it('adds forty terms at most, and asks of sixty-four how rare they are', () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ')
  const { size, asked } = weightsOf('engine', matchesOf([words, words]))
  expect([size, asked.length]).toEqual([40, 64])
})

it('adds nothing where the chunks say no more than the query does', () => {
  expect(weightsOf('engine room', matchesOf(['engine', 'room engine'])).size).toBe(0)
  expect(weightsOf('engine', matchesOf([])).size).toBe(0)
})

describe('Feedback from the terms of the matches', () => {
  const query = analyser.query('engine')
  const rescored = (texts: readonly string[]) => {
    const found = texts.map((text, place) => matchOf(text, place, 10 - place / 10))
    const gains = rescoreByOthers(query, found).map(({ key, score }) => {
      return [key, score - (found[key]?.score ?? 0)] as const
    })
    return new Map(gains)
  }

  it('raises matches with terms of the best of them, by what the others lack', () => {
    const others = Array.from({ length: 20 }, (_, i) => `engine report other${i}`)
    const best = Array.from({ length: 8 }, () => 'engine turbine report')
    const gains = rescored([...best, ...others, 'engine turbine', 'engine'])
    expect(gains.get(28)).toBeGreaterThan(gains.get(20) ?? 0)
    expect(gains.get(20)).toBeGreaterThan(0)
    expect(gains.get(29)).toBe(0)
  })

  it('counts a text that several documents contain once', () => {
    const twice = ['engine a', 'engine a', 'engine b', 'engine a', 'engine b']
    const gains = rescored(twice)
    // The first of each weighs, and `a` is held by more.
    expect(gains.get(2)).toBeGreaterThan(gains.get(0) ?? 0)
  })
})
