import type { Hit } from '@agent-server/schemas/query.ts'
import type { TermsOf } from './attribution.ts'
import { type Range, sentencesOf } from './sentences.ts'

export type Passage = Pick<Hit, 'title' | 'heading' | 'text'>

/** What a passage has to say about a statement. */
export interface Support {
  /** The sentences that come closest to the statement, in the order of the passage, as ranges of its text. */
  quotes: Range[]
  /** Whether the passage carries the statement; undefined if the two seem to be in different languages. */
  isSupported: boolean | undefined
}

/** Quotes of one citation. */
const MAX_QUOTES = 3
/** A sentence that shares less than this with the statement, measured against the best one, is not quoted. */
const MIN_SHARE_OF_BEST = 0.75
/** A passage that has a smaller part of the statement's terms does not carry it. */
const MIN_SHARE = 0.5
/** A sentence that has at least this part of the statement's terms, and not twice as many, says it or its opposite. */
const MIN_SHARE_OF_SAME = 0.8
/** Languages in which a larger part of the words begins with a capital, such as German, do not mark names by it. */
const MAX_CAPITALISED = 0.28
/** Fewer words do not show it. */
const MIN_WORDS = 30
/** Texts in one language share more of their short words than this; fewer than these show nothing. */
const MIN_SHARED_SHORT_WORDS = 0.2
const MIN_SHORT_WORDS = 4

const WORD = /[\p{L}\p{N}_]+(?:['\u2019.-][\p{L}\p{N}_]+)*/gu
const CAPITALISED = /^\p{Lu}\p{Ll}/u
const SHORT_WORD = /(?<!\p{L})\p{Ll}{1,4}(?!\p{L})/gu
const NUMBER = /\d+(?:[.,:]\d+)*/g
const THOUSANDS_SEPARATOR = /[.,](?=\d{3}(?:[.,]|$))/g
const NEGATION = /\b(?:not|no|never|none|neither|nor|cannot|without)\b|n['\u2019]t\b/i
const NUMBER_WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(
  ' ',
)

/**
 * Compares statements with a passage by words alone, without a model. A statement is supported if the passage has half
 * of its terms and all of its numbers and names, and no sentence says the same with a negation more or less. A wrong
 * fact that the passage has elsewhere is not noticed. Measured in docs/internals/retrieval-quality.md.
 */
export function createStatementSupport(passage: Passage, termsOf: TermsOf) {
  const { title, heading = '', text } = passage
  const around = `${title} ${heading} ${text}`
  const sentences = sentencesOf(text).map((range) => {
    const words = text.slice(range.start, range.end)
    return { range, words, terms: new Set(termsOf(words)) }
  })
  const holders = new Map<number, number>()
  for (const term of sentences.flatMap(({ terms }) => [...terms])) {
    holders.set(term, (holders.get(term) ?? 0) + 1)
  }
  const sourceTerms = new Set([...termsOf(`${title} ${heading}`), ...holders.keys()])
  const numbers = new Set([...numbersIn(around), ...spelledNumbersIn(text)])
  const shortWords = new Set(matches(text, SHORT_WORD))
  const words = matches(around, WORD)
  const knownWords = new Set(words.map((word) => word.toLowerCase()))
  const capitalised = words.filter((word) => /^\p{Lu}/u.test(word)).length
  const hasNames = words.length < MIN_WORDS || capitalised <= words.length * MAX_CAPITALISED

  return (statement: string): Support => {
    const statementTerms = [...new Set(termsOf(statement))]
    const closest = closestTo(statementTerms)
    return {
      quotes: closest.map(({ range }) => range).toSorted((a, b) => a.start - b.start),
      isSupported: isSupported(statement, statementTerms, closest[0]),
    }
  }

  /** The sentences that share most terms, each term weighted by how few sentences have it; the best first. */
  function closestTo(statementTerms: readonly number[]) {
    const scored = sentences.map((sentence) => {
      const shared = statementTerms.filter((term) => sentence.terms.has(term))
      return {
        ...sentence,
        score: shared.reduce((sum, term) => sum + 1 / (holders.get(term) ?? 1), 0),
      }
    })
    const least = Math.max(...scored.map(({ score }) => score)) * MIN_SHARE_OF_BEST
    return scored
      .filter(({ score }) => score > 0 && score >= least)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, MAX_QUOTES)
  }

  function isSupported(
    statement: string,
    statementTerms: readonly number[],
    closest: (typeof sentences)[number] | undefined,
  ): boolean | undefined {
    const shared = statementTerms.filter((term) => sourceTerms.has(term))
    if (shared.length < statementTerms.length * MIN_SHARE) {
      return isOtherLanguage(statement) ? undefined : false
    }
    if (numbersIn(statement).some((number) => !numbers.has(number))) return false
    if (namesIn(statement).some(isUnknownName)) return false
    return !closest || !isOpposite(statement, statementTerms, closest)
  }

  function isUnknownName(name: string): boolean {
    if (!hasNames || knownWords.has(name.toLowerCase())) return false
    return Array.from(termsOf(name)).some((term) => !sourceTerms.has(term))
  }

  function isOtherLanguage(statement: string): boolean {
    const words = [...new Set(matches(statement, SHORT_WORD))]
    const shared = words.filter((word) => shortWords.has(word))
    return words.length >= MIN_SHORT_WORDS && shared.length <= words.length * MIN_SHARED_SHORT_WORDS
  }
}

/** Whether a sentence says what a statement says, but only one of them has a negation. */
function isOpposite(
  statement: string,
  statementTerms: readonly number[],
  { words, terms }: { words: string; terms: ReadonlySet<number> },
): boolean {
  const shared = statementTerms.filter((term) => terms.has(term))
  const isSame =
    shared.length >= statementTerms.length * MIN_SHARE_OF_SAME &&
    terms.size < statementTerms.length * 2
  return isSame && NEGATION.test(statement) !== NEGATION.test(words)
}

const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([it]) => it)

/** Numbers in one notation: without separators of thousands, with a point before decimals. */
function numbersIn(text: string): string[] {
  return matches(text, NUMBER).map((number) =>
    number.replaceAll(THOUSANDS_SEPARATOR, '').replaceAll(',', '.'),
  )
}

/** The numbers that an English text spells out, as digits. */
function spelledNumbersIn(text: string): string[] {
  const places = matches(text.toLowerCase(), WORD).map((word) => NUMBER_WORDS.indexOf(word))
  return places.filter((place) => place >= 0).map(String)
}

/** Words that begin with a capital, unless most of them do; the first word of a sentence always does. */
function namesIn(statement: string): string[] {
  const words = matches(statement, WORD)
  const names = words.slice(1).filter((word) => CAPITALISED.test(word))
  if (names.length > words.length / 2) return []
  return names.map((name) => name.replace(/['\u2019]s$/, ''))
}
