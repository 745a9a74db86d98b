import type { TermsOf } from './attribution.ts'
import {
  allNumbersIn,
  compareOppositely,
  denies,
  monthsIn,
  namesIn,
  negates,
  numbersIn,
} from './telling-words.ts'

/** A sentence of a passage, with the part of a statement's terms that it has. */
interface ClosestSentence {
  words: string
  terms: ReadonlySet<number>
  share: number
  /** The sentence behind it, which may go on about the same. */
  next?: Pick<ClosestSentence, 'words' | 'terms'> | undefined
}

/** A sentence that has at least this part of the statement's terms says the same, or something else in its place. */
const MIN_SHARE_OF_SAME = 0.8
/**
 * For a name, so much of the rest of the statement must be in the sentence, since a true statement often names what an
 * earlier sentence is about, and so much of the sentence in the statement, which may be shorter.
 */
const MIN_SHARE_OF_REST = 0.9
const MIN_SHARE_OF_SENTENCE = 0.5
/** A shorter rest says too little. */
const MIN_TERMS_OF_REST = 3
/** So much of it is enough to miss the statement's negation in it: few true statements add one. */
const MIN_SHARE_OF_NEGATED = 0.4
const CLAUSE_END = /[,;:()\u2013\u2014]\s/

/**
 * Tells whether a statement says something else than the sentences closest to it, the best first: it has a number or
 * name from elsewhere in the passage where they have another, a negation more or less, or the opposite comparison.
 */
export function createDifference({
  heading,
  sourceTerms,
  termsOf,
}: {
  /** What stands above the passage, which every sentence may refer to. */
  heading: string
  sourceTerms: ReadonlySet<number>
  termsOf: TermsOf
}) {
  const headingTerms = [...termsOf(heading)]

  return (
    statement: string,
    statementTerms: readonly number[],
    closest: readonly ClosestSentence[],
  ): boolean => {
    const [best] = closest
    if (!best) return false
    const isNegated = best.share >= MIN_SHARE_OF_NEGATED && negates(statement)
    if (isNegated && !isDenied(new Set(statementTerms), closest)) return true
    if (hasOtherName(statement, statementTerms, best, closest)) return true
    return (
      best.share >= MIN_SHARE_OF_SAME &&
      (hasOtherNumber(statement, closest) || isOpposite(statement, statementTerms, best))
    )
  }

  /** Whether one of the sentences has a negation, or the next one, if it has more of the statement's terms. */
  function isDenied(own: ReadonlySet<number>, closest: readonly ClosestSentence[]): boolean {
    const next = closest.flatMap(({ terms, next: following }) => {
      const adds =
        following && [...following.terms].some((term) => own.has(term) && !terms.has(term))
      return adds ? [following] : []
    })
    return [...closest, ...next].some(({ words }) => denies(clauseOf(words, own)))
  }

  function hasOtherNumber(statement: string, closest: readonly ClosestSentence[]): boolean {
    const own = numbersIn(statement)
    const known = new Set(own.flat())
    const near = allNumbersIn(`${heading} ${closest.map(({ words }) => words).join(' ')}`)
    const isReplaced = numbersIn(closest[0]?.words ?? '').some(isMissingIn(known))
    return isReplaced && own.some(isMissingIn(near))
  }

  /** Whether a name or month of the passage stands in the place of one that the best sentence has. */
  function hasOtherName(
    statement: string,
    statementTerms: readonly number[],
    best: ClosestSentence,
    closest: readonly ClosestSentence[],
  ): boolean {
    const isIn = (terms: ReadonlySet<number>) => (name: string) =>
      Array.from(termsOf(name)).some((term) => terms.has(term))
    const isOwn = isIn(new Set(statementTerms))
    const isNear = isIn(new Set([...headingTerms, ...closest.flatMap(({ terms }) => [...terms])]))
    const isKnown = isIn(sourceTerms)
    const isRestTheSame = (name: string) => {
      const replacing = new Set(termsOf(name))
      const rest = statementTerms.filter((term) => !replacing.has(term))
      const shared = rest.filter((term) => best.terms.has(term)).length
      return (
        rest.length >= MIN_TERMS_OF_REST &&
        shared >= rest.length * MIN_SHARE_OF_REST &&
        shared >= best.terms.size * MIN_SHARE_OF_SENTENCE
      )
    }
    // The nouns of German, too, which has no other sign of a name.
    const labelsIn = (text: string) => [...namesIn(text), ...monthsIn(text)]
    const isReplaced = labelsIn(best.words).some((name) => !isOwn(name))
    return (
      isReplaced &&
      labelsIn(statement).some((name) => isKnown(name) && !isNear(name) && isRestTheSame(name))
    )
  }

  /** The clause of a sentence that shares most terms with a statement. */
  function clauseOf(sentence: string, statementTerms: ReadonlySet<number>): string {
    const clauses = sentence.split(CLAUSE_END).map((words) => {
      const shared = new Set(Array.from(termsOf(words)).filter((term) => statementTerms.has(term)))
      return { words, shared: shared.size }
    })
    return clauses.toSorted((a, b) => b.shared - a.shared)[0]?.words ?? sentence
  }
}

const isMissingIn = (known: ReadonlySet<string>) => (forms: readonly string[]) =>
  !forms.some((form) => known.has(form))

function isOpposite(
  statement: string,
  statementTerms: readonly number[],
  { words, terms }: ClosestSentence,
): boolean {
  const isWhole = terms.size < statementTerms.length * 2
  if (isWhole && negates(words) && !denies(statement)) return true
  return compareOppositely(statement, words)
}
