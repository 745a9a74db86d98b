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
/** Parts of years, forms and single letters: `FY`, `Q2`, `10K`. */
const NO_NAME = /^(?:\p{L}|[FC]Y|[QH]\d|\d+[KQ])$/iu
/** Titles may write the words of a name as one: `AMERICANEXPRESS_2022_10K.pdf`. */
const MAX_JOINED = 3
/** The last words of a question that are looked at: all but what was pasted in front of it. */
const MAX_WORDS = 300

type Store = Pick<DocumentStore, 'readChunks' | 'listChunks'>
type Document = Pick<StoredChunk, 'documentId' | 'title' | 'page'>

/** What a question shares with documents of a year that it has. */
interface Naming {
  /** Undefined for a title without any year. */
  inTitle(title: string): Shared | undefined
  onCover(text: string): Shared
}

interface Shared {
  /** Names of the question; undefined without one of its years. */
  names?: readonly number[]
  /** Whether the question has all words of the title. */
  isWhole?: boolean
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
  const termsOf = (words: readonly string[]) => [...analyse(words.join(' ')).terms]
  const runs = runsOf(question.match(WORD)?.slice(-MAX_WORDS) ?? [])
  const joined = (all: readonly string[][]) => new Set(termsOf(all.map((run) => run.join(''))))
  const words = joined(runs)
  const names = joined(runs.filter((run) => run.every((word) => OF_NAME.test(word))))

  const hasYear = (text: string) => text.match(YEAR)?.some((year) => years.has(year)) === true
  const wordsOf = (text: string) =>
    text.match(WORD)?.filter((word) => HAS_LETTER.test(word) && !NO_NAME.test(word)) ?? []
  const namesOf = (own: readonly string[]) => termsOf(own).filter((term) => names.has(term))
  const isWhole = (own: readonly string[]) => {
    const telling = termsOf(own.filter((word) => !HAS_DIGIT.test(word)))
    return telling.length > 0 && telling.every((term) => words.has(term))
  }
  return {
    inTitle(title) {
      const spelt = spellPeriods(title.replace(EXTENSION, ''))
      if (!YEAR_IN.test(spelt)) return undefined
      const own = wordsOf(spelt)
      return hasYear(spelt) ? { names: namesOf(own), isWhole: isWhole(own) } : {}
    },
    onCover(text) {
      const spelt = spellPeriods(text)
      return hasYear(spelt) ? { names: namesOf(wordsOf(spelt)) } : {}
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
  const titled = documents.map(({ documentId, title = '', page }) => {
    return { documentId, isPaged: page !== undefined, shared: naming.inTitle(title) }
  })
  const unclear = titled.filter(({ shared, isPaged }) => shared === undefined && isPaged)
  const covers = await Promise.all(
    unclear.slice(0, MAX_COVERS).map(async ({ documentId }) => {
      const listed = await store.listChunks(visibility, { documentId, limit: 1 })
      return { documentId, shared: naming.onCover(listed?.chunks[0]?.text ?? '') }
    }),
  )
  const named = namedBy([...titled, ...covers])
  // Where it names most, it tells none of them apart from the others.
  return new Set(named.length * 2 > documents.length ? [] : named)
}

/** Of documents of the year that share names, those that have one which tells them apart, if any does. */
function namedBy(
  documents: readonly { documentId: string; shared?: Shared | undefined }[],
): string[] {
  const dated = documents.filter(({ shared }) => shared?.names !== undefined)
  const holders = new Map<number, number>()
  for (const name of dated.flatMap(({ shared }) => shared?.names ?? [])) {
    holders.set(name, (holders.get(name) ?? 0) + 1)
  }
  const telling = [dated.length / 2, dated.length - 1, dated.length]
    .map((most) => new Set([...holders.keys()].filter((name) => (holders.get(name) ?? 0) <= most)))
    .find(({ size }) => size > 0)
  return dated
    .filter(({ shared }) => shared?.isWhole || shared?.names?.some((name) => telling?.has(name)))
    .map(({ documentId }) => documentId)
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
}
