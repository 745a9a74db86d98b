import type { Hit } from '@agent-server/schemas/query.ts'
import type { TermsOf } from './attribution.ts'
import { createDifference } from './sentence-difference.ts'
import { type Range, sentencesOf } from './sentences.ts'
import { allNumbersIn, namesAmongNounsIn, namesIn, numbersIn, wordsOf } from './telling-words.ts'

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
/** Languages in which a larger part of the words begins with a capital, such as German, do not mark names by it. */
const MAX_CAPITALISED = 0.2
/** Fewer words do not show it, but German has words that other languages lack, unlike `IST`, `IM` and `Dem`. */
const MIN_WORDS = 30
const GERMAN_WORD =
  /^(?:dem|[Ee]ine[mnrs]?|[Ii]m|ist|[Nn]icht|sind|[Uu]nd|[Vv]om|wird|wurde|[Zz]um|[Zz]ur)$/
/** Texts in one language share more of their short words than this; fewer than these show nothing. */
const MIN_SHARED_SHORT_WORDS = 0.2
const MIN_SHORT_WORDS = 4

/** With so many names, a summarising statement may have one that the passage lacks. */
const NAMES_FOR_AN_UNKNOWN_ONE = 4
/** Longer names that begin alike are forms of one: `Germany` and `German`. */
const BEGINNING_OF_NAME = /^\p{Lu}\p{Ll}{4}(?=\p{L})/u

/** Letters of a part of a compound, of what words that say much the same begin with, and of the longest compound. */
const MIN_PART = 5
const BEGINNING_ALIKE = 6
const MAX_COMPOUND = 40

const SHORT_WORD = /(?<!\p{L})\p{Ll}{1,4}(?!\p{L})/gu

/**
 * Compares statements with a passage by words alone, without a model. A statement is supported if the passage has half
 * of its terms, all of its numbers and nearly all of its names, and no sentence that says the same has others in their
 * place, a negation more or less, or the opposite comparison. Measured in docs/internals/retrieval-quality.md.
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
  const titleTerms = new Set(termsOf(`${title} ${heading}`))
  const sourceTerms = new Set([...titleTerms, ...holders.keys()])
  const numbers = allNumbersIn(around)
  const shortWords = new Set(matches(text, SHORT_WORD))
  const words = wordsOf(around)
  const knownWords = new Set(words.map((word) => word.toLowerCase()))
  const beginnings = new Set(words.flatMap((word) => BEGINNING_OF_NAME.exec(word) ?? []))
  const hasNames = marksNames(words)
  const allKnown = ` ${[...knownWords].join(' ')} `
  const isDifferent = createDifference({ heading: `${title} ${heading}`, sourceTerms, termsOf })

  return (statement: string): Support => {
    const statementTerms = [...new Set(termsOf(statement))]
    const closest = closestTo(statementTerms)
    return {
      quotes: closest.map(({ range }) => range).toSorted((a, b) => a.start - b.start),
      isSupported: isSupported(statement, statementTerms, closest),
    }
  }

  /** The sentences that share most terms, each term weighted by how few sentences have it; the best first. */
  function closestTo(statementTerms: readonly number[]) {
    const scored = sentences.map((sentence, place) => {
      const shared = statementTerms.filter((term) => sentence.terms.has(term))
      return {
        ...sentence,
        next: sentences[place + 1],
        share: shared.length / statementTerms.length,
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
    closest: ReturnType<typeof closestTo>,
  ): boolean | undefined {
    const parts = hasNames ? [] : wordsOf(statement).filter((word) => isRelated(word.toLowerCase()))
    const known = new Set([...sourceTerms, ...termsOf(parts.join(' '))])
    const shared = statementTerms.filter((term) => known.has(term))
    if (shared.length < statementTerms.length * MIN_SHARE) {
      return isOtherLanguage(statement) ? undefined : false
    }
    if (numbersIn(statement).some((forms) => !forms.some((form) => numbers.has(form)))) return false
    return !hasUnknownName(statement) && !isDifferent(statement, statementTerms, closest)
  }

  function hasUnknownName(statement: string): boolean {
    const names = hasNames ? namesIn(statement) : namesAmongNounsIn(statement)
    const unknown = names.filter(isUnknownName)
    return unknown.length > Math.floor(names.length / NAMES_FOR_AN_UNKNOWN_ONE)
  }

  function isUnknownName(name: string): boolean {
    if (knownWords.has(name.toLowerCase())) return false
    const [beginning = ''] = BEGINNING_OF_NAME.exec(name) ?? []
    if (beginnings.has(beginning)) return false
    if (!hasNames && isRelated(name.toLowerCase())) return false
    return Array.from(termsOf(name)).some((term) => !sourceTerms.has(term))
  }

  /** Whether the passage has a part of the word, such as `Spiel` of `Fußballspiel`, or one that begins or ends alike. */
  function isRelated(word: string): boolean {
    if (word.length < MIN_PART || word.length > MAX_COMPOUND) return false
    return (
      allKnown.includes(` ${word.slice(0, BEGINNING_ALIKE)}`) ||
      allKnown.includes(`${word} `) ||
      partsOf(word).some((part) => knownWords.has(part))
    )
  }

  function isOtherLanguage(statement: string): boolean {
    const words = [...new Set(matches(statement, SHORT_WORD))]
    const shared = words.filter((word) => shortWords.has(word))
    return words.length >= MIN_SHORT_WORDS && shared.length <= words.length * MIN_SHARED_SHORT_WORDS
  }
}

const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([it]) => it)

/** What a word begins and ends with. */
function partsOf(word: string): string[] {
  const cuts = Array.from({ length: word.length - MIN_PART + 1 }, (_, cut) => cut)
  return cuts.flatMap((cut) => [word.slice(0, cut + MIN_PART), word.slice(cut)])
}

/** Whether words with a capital are names, rather than nouns. */
function marksNames(words: readonly string[]): boolean {
  if (words.length < MIN_WORDS) return !words.some((word) => GERMAN_WORD.test(word))
  return countCapitalised(words) <= words.length * MAX_CAPITALISED
}

/** Words with a capital; those that stand side by side count once, as one name. */
function countCapitalised(words: readonly string[]): number {
  const isCapitalised = words.map((word) => /^\p{Lu}/u.test(word))
  return isCapitalised.filter((is, place) => is && isCapitalised[place - 1] !== true).length
}
