import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Candidate, QueryTerms } from '@agent-server/search'
import type { DocumentStore, StoredChunk } from '@agent-server/stores'
import { spellPeriods } from './periods.ts'

/** In standard deviations of the candidates' scores: measured, see docs/internals/retrieval-quality.md. */
const BONUS = 3
/** The first candidates of both lists. */
const MAX_READ = 200
/** Documents whose first chunk is read, those of the best candidates. */
const MAX_COVERS = 20
const YEAR_IN = /(?<!\d)(?:19|20)\d{2}(?!\d)/
const YEAR = new RegExp(YEAR_IN, 'g')
const EXTENSION = /\.\p{L}[\p{L}\p{N}]{1,4}$/u
const WORD = /[\p{L}\p{N}]+/gu
const HAS_LETTER = /\p{L}/u
const HAS_DIGIT = /\d/
/** `Adobe`, `3M`; in German any noun. */
const OF_NAME = /^\d*\p{Lu}/u
const FISCAL = /^[FC]Y$/i
/** Titles may write the words of a name as one: `AMERICANEXPRESS_2022_10K.pdf`. */
const MAX_JOINED = 3
/** The last words of a question that are looked at: all but what was pasted in front of it. */
const MAX_WORDS = 300

type Store = Pick<DocumentStore, 'readChunks' | 'listChunks'>
type Document = Pick<StoredChunk, 'documentId' | 'title' | 'page'>

/** Tells of documents whether a question names them. */
interface Naming {
  /** By their title; undefined for one without a year. */
  byTitle(title: string): boolean | undefined
  /** By what stands on the cover. */
  byCover(text: string): boolean
}

/**
 * A question names a document by a year and by a name that both have, which is what the question writes with a capital, or
 * by all words of a title. Any other word that they share, as `team` in “Team meeting 2025”, names nothing. Undefined
 * without a year, as most questions are.
 */
export function namingOf(
  question: string,
  analyse: (text: string) => Pick<QueryTerms, 'terms'>,
): Naming | undefined {
  const years = new Set(spellPeriods(question).match(YEAR))
  if (years.size === 0) return undefined
  const termsOf = (words: readonly string[]) => analyse(words.join(' ')).terms
  const asked = question.match(WORD)?.slice(-MAX_WORDS) ?? []
  const words = new Set(termsOf(asked))
  const isName = (run: readonly string[]) => run.every((word) => OF_NAME.test(word))
  const names = new Set(
    termsOf(
      runsOf(asked)
        .filter(isName)
        .map((run) => run.join('')),
    ),
  )

  const hasYear = (text: string) => text.match(YEAR)?.some((year) => years.has(year)) === true
  const hasName = (own: readonly string[]) => termsOf(own).some((term) => names.has(term))
  const isWhole = (own: readonly string[]) => {
    const telling = termsOf(own.filter((word) => !HAS_DIGIT.test(word) && !FISCAL.test(word)))
    return telling.length > 0 && telling.every((term) => words.has(term))
  }
  const wordsOf = (text: string) => text.match(WORD)?.filter((word) => HAS_LETTER.test(word)) ?? []
  return {
    byTitle(title) {
      const spelt = spellPeriods(title.replace(EXTENSION, ''))
      if (!YEAR_IN.test(spelt)) return undefined
      const own = wordsOf(spelt)
      return hasYear(spelt) && (hasName(own) || isWhole(own))
    },
    byCover(text) {
      const spelt = spellPeriods(text)
      return hasYear(spelt) && hasName(wordsOf(spelt))
    },
  }
}

/** All runs of one to three words. */
const runsOf = (words: readonly string[]): string[][] =>
  words.flatMap((_, from) =>
    Array.from({ length: MAX_JOINED }, (__, more) => words.slice(from, from + more + 1)),
  )

/**
 * Ranks chunks of the documents that a question names higher, by a bounded bonus. Reports of one company, or of one year,
 * are so much alike that neither words nor vectors tell from which one a chunk is.
 */
export async function favourNamed(
  store: Store,
  visibility: Visibility,
  candidates: readonly Candidate[],
  naming: Naming | undefined,
): Promise<readonly Candidate[]> {
  if (!naming) return candidates
  const first = candidates.slice(0, MAX_READ)
  const keys = first.map(({ key }) => key)
  const { chunks } = await store.readChunks(visibility, keys)
  const named = await namedAmong(chunks, { store, visibility, naming })
  const favoured = new Set(
    chunks.filter(({ documentId }) => named.has(documentId)).map(({ key }) => key),
  )
  const bonus = BONUS * deviationOf(first.map(({ score }) => score))
  return first
    .map((candidate) => ({
      candidate,
      rank: candidate.score + (favoured.has(candidate.key) ? bonus : 0),
    }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ candidate }) => candidate)
    .concat(candidates.slice(MAX_READ))
}

interface Reading {
  store: Store
  visibility: Visibility
  naming: Naming
}

/** Goes by the title; if that has no year and the file has pages, by the first chunk. */
async function namedAmong(
  chunks: readonly Document[],
  { store, visibility, naming }: Reading,
): Promise<Set<string>> {
  const documents = [...new Map(chunks.map((chunk) => [chunk.documentId, chunk])).values()]
  const judged = documents.map(({ documentId, title = '', page }) => {
    return { documentId, isPaged: page !== undefined, isNamed: naming.byTitle(title) }
  })
  const unclear = judged.filter(({ isNamed, isPaged }) => isNamed === undefined && isPaged)
  const covers = await Promise.all(
    unclear.slice(0, MAX_COVERS).map(async ({ documentId }) => {
      const listed = await store.listChunks(visibility, { documentId, limit: 1 })
      return { documentId, isNamed: naming.byCover(listed?.chunks[0]?.text ?? '') }
    }),
  )
  const all = [...judged, ...covers].filter(({ isNamed }) => isNamed === true)
  // Where it names most, it tells none of them apart from the others.
  const named = all.length * 2 > documents.length ? [] : all
  return new Set(named.map(({ documentId }) => documentId))
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
