import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Candidate, QueryTerms } from '@agent-server/search'
import type { DocumentStore } from '@agent-server/stores'
import { spellPeriods } from './periods.ts'

/** In standard deviations of the candidates' scores: measured, see docs/internals/retrieval-quality.md. */
const BONUS = 3
/** The first candidates of both lists. */
const MAX_READ = 200
const YEAR = /(?<!\d)(?:19|20)\d{2}(?!\d)/g
const EXTENSION = /\.\p{L}[\p{L}\p{N}]{1,4}$/u
const WORD = /[\p{L}\p{N}]+/gu
const HAS_LETTER = /\p{L}/u
/** Titles may write the words of a name as one: `AMERICANEXPRESS_2022_10K.pdf`. */
const MAX_JOINED = 3

type IsNamed = (title: string) => boolean

/**
 * Tells which titles a question names, by a word and a year that it has as well. Undefined for a question without a year,
 * which most are.
 */
export function namedBy(
  question: string,
  analyse: (text: string) => Pick<QueryTerms, 'terms'>,
): IsNamed | undefined {
  const years = new Set(spellPeriods(question).match(YEAR))
  if (years.size === 0) return undefined
  const words = question.match(WORD) ?? []
  const names = words.flatMap((_, from) =>
    Array.from({ length: MAX_JOINED }, (__, more) => words.slice(from, from + more + 1).join('')),
  )
  const asked = new Set(analyse(names.join(' ')).terms)
  return (title) => {
    const spelt = spellPeriods(title.replace(EXTENSION, ''))
    if (!spelt.match(YEAR)?.some((year) => years.has(year))) return false
    const own = spelt.match(WORD)?.filter((word) => HAS_LETTER.test(word)) ?? []
    return analyse(own.join(' ')).terms.some((term) => asked.has(term))
  }
}

/**
 * Ranks chunks of the documents that a question names higher, by a bounded bonus. Reports of one company, or of one year,
 * are so much alike that neither words nor vectors tell from which one a chunk is.
 */
export async function favourNamed(
  store: Pick<DocumentStore, 'readChunks'>,
  visibility: Visibility,
  candidates: readonly Candidate[],
  isNamed: IsNamed | undefined,
): Promise<readonly Candidate[]> {
  if (!isNamed) return candidates
  const first = candidates.slice(0, MAX_READ)
  const { chunks } = await store.readChunks(
    visibility,
    first.map(({ key }) => key),
  )
  const titles = new Map(chunks.map(({ key, title = '' }) => [key, title]))
  const named = new Set([...new Set(titles.values())].filter(isNamed))
  const bonus = BONUS * deviationOf(first.map(({ score }) => score))
  return first
    .map((candidate) => {
      const isFavoured = named.has(titles.get(candidate.key) ?? '')
      return { candidate, rank: candidate.score + (isFavoured ? bonus : 0) }
    })
    .sort((a, b) => b.rank - a.rank)
    .map(({ candidate }) => candidate)
    .concat(candidates.slice(MAX_READ))
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
