import { newStemmer, tokenise } from '@agent-server/lib/text/tokenise.ts'
import type { Unit } from './quotable-units.ts'

const MAX_QUOTES = 4
const MAX_QUESTION_TERMS = 64

/** Minimum share of the question, by weight, that a quote with its heading and title must contain. */
const MIN_COVERAGE = 0.2
/** The same if only the document's title matches the question. */
const MIN_COVERAGE_BY_TITLE = 0.5
/** This many common words are enough, however long the question is. */
const ENOUGH_WORDS = 3
/** Minimum score of further quotes, relative to the best one. */
const MIN_SHARE_OF_BEST = 0.5
/** Quotes that share at least this part of their terms count as the same. */
const SAME = 0.6
/** Penalty for similarity to the quotes already chosen (maximal marginal relevance). */
const REDUNDANCY_COST = 0.5

/** Factor for the score if only the title matches: such a quote is a last resort. */
const BY_TITLE_ALONE = 0.1
/** Weights of words that are not in the quote but in the heading above it, or in the title. */
const HEADING_WORTH = 0.5
const TITLE_WORTH = 0.25
/** Weight of words of the previous question, to which questions like "and on Sunday?" refer. */
const EARLIER_WORTH = 0.2
/** Penalty per position in the list of chunks. */
const RANK_COST = 0.08
/** BM25's length normalisation, weaker than usual: sentences vary less in length than documents. */
const LENGTH_WEIGHT = 0.4
/** Shorter units, mostly labels, are normalised as if they had this many terms. */
const SHORT_TERMS = 3

export interface Question {
  text: string
  /** The previous question. */
  before: string
}

/** A unit with the terms in it and above it. */
export interface IndexedUnit {
  unit: Unit
  own: ReadonlySet<string>
  /** Its own and those of its context. */
  withHeading: ReadonlySet<string>
  /** `withHeading` and those of the title. */
  all: ReadonlySet<string>
}

interface Scored extends IndexedUnit {
  score: number
}

export function indexUnit(unit: Unit, title: string): IndexedUnit {
  const own = termsOf([unit.text, ...unit.code].join('\n'))
  const withHeading = [...own, ...termsOf(unit.context)]
  const all = [...withHeading, ...termsOf(title)]
  return { unit, own: new Set(own), withHeading: new Set(withHeading), all: new Set(all) }
}

/** Units with less than this share of the words of the question together may answer another one. */
const MIN_SHARE_OF_WORDS = 0.5

export interface Quotes {
  /** Best first, without repetitions; empty if none fits. */
  units: Unit[]
  /** Whether they have half of the words of the question, or more. */
  areSure: boolean
}

/** The units that answer the question best. */
export function chooseQuotes(question: Question, candidates: readonly IndexedUnit[]): Quotes {
  const worths = weighTerms(weighQuestion(question), candidates)
  const averageLength = sum(candidates.map(({ own }) => own.size)) / candidates.length
  const scored = candidates.map((candidate): Scored => {
    const length = Math.max(candidate.own.size, SHORT_TERMS) / averageLength
    const divisor = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length
    return { ...candidate, score: scoreCandidate(candidate, worths) / divisor }
  })
  const chosen = pickDiverse(scored.filter(({ score }) => score > 0))
  const words = weighQuestion({ ...question, before: '' })
  const had = new Set(chosen.flatMap(({ withHeading }) => [...withHeading]))
  return {
    units: chosen.map(({ unit }) => unit),
    areSure:
      UNDIVIDED.test(question.text) ||
      worthOf(had, words) >= sum([...words.values()]) * MIN_SHARE_OF_WORDS,
  }
}

function scoreCandidate(
  { unit, own, withHeading, all }: IndexedUnit,
  worths: ReadonlyMap<string, number>,
): number {
  const byOwn = worthOf(own, worths)
  const byHeading = worthOf(withHeading, worths) - byOwn
  const byTitle = worthOf(all, worths) - byOwn - byHeading
  const byTitleAlone = byOwn + byHeading === 0
  const coverage = (byOwn + byHeading + byTitle) / sum([...worths.values()])
  const least = byTitleAlone ? MIN_COVERAGE_BY_TITLE : MIN_COVERAGE
  const words = [...worths.keys()].filter((term) => own.has(term)).length
  if (!(coverage >= least || words >= ENOUGH_WORDS)) return 0
  const score = byOwn + HEADING_WORTH * byHeading + TITLE_WORTH * byTitle
  return (score * (byTitleAlone ? BY_TITLE_ALONE : 1)) / (1 + RANK_COST * unit.chunk)
}

function worthOf(terms: ReadonlySet<string>, worths: ReadonlyMap<string, number>): number {
  return sum([...worths].map(([term, worth]) => (terms.has(term) ? worth : 0)))
}

function weighQuestion({ text, before }: Question): Map<string, number> {
  const earlier = termsOf(before).map((term): [string, number] => [term, EARLIER_WORTH])
  const now = termsOf(text).map((term): [string, number] => [term, 1])
  // The later entry of a term wins.
  const weights = new Map([...earlier, ...now].slice(-MAX_QUESTION_TERMS))
  for (const [term, weight] of weights)
    if (isHanWord(term)) weights.set(term, weight * CHARACTER_WORTH)
  return weights
}

/** The worth of each term of the question: its weight times its idf among the units, as in BM25. */
function weighTerms(
  weights: ReadonlyMap<string, number>,
  candidates: readonly IndexedUnit[],
): Map<string, number> {
  const worths = [...weights].map(([term, weight]): [string, number] => {
    const count = candidates.filter(({ own }) => own.has(term)).length
    return [term, weight * Math.log(1 + (candidates.length - count + 0.5) / (count + 0.5))]
  })
  return new Map(worths)
}

function pickDiverse(scored: readonly Scored[]): Scored[] {
  const best = scored.reduce((top, { score }) => Math.max(top, score), 0)
  let candidates = scored.filter(({ score }) => score >= best * MIN_SHARE_OF_BEST)
  const selection: Scored[] = []
  while (candidates.length > 0 && selection.length < MAX_QUOTES) {
    const value = (candidate: Scored) =>
      candidate.score * (1 - REDUNDANCY_COST * likeness(candidate, selection))
    const next = candidates.reduce((top, candidate) =>
      value(candidate) > value(top) ? candidate : top,
    )
    selection.push(next)
    candidates = candidates.filter(
      (candidate) => candidate !== next && likeness(candidate, [next]) < SAME,
    )
  }
  return selection
}

/** The largest share of terms that a candidate has in common with a chosen quote, relative to the shorter one. */
function likeness({ own }: IndexedUnit, selection: readonly IndexedUnit[]): number {
  const shares = selection.map((other) => {
    const shared = [...own].filter((term) => other.own.has(term)).length
    return shared / Math.max(1, Math.min(own.size, other.own.size))
  })
  return Math.max(0, ...shares)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

const stemmer = newStemmer('english')
const MARKS = /\p{M}/gu
const LATIN = /^[\p{sc=Latin}\p{M}\p{N}'\u2019]+$/u
const APOSTROPHE_S = /['\u2019]s?$/

/** Question and function words, without diacritics; omits words with a meaning in another language. */
const STOP_WORDS = new Set(
  [
    `a about after all also am an and any are as at be because been before but by can could did do does for
    from get give had has have he her him his how i if in into is it its just know let like make many may me
    might more most much must my need no not of off on one only or other our out over please shall she should
    show so some such tell than that the their them then there these they this those to too up us use very
    want was we were what when where which while who whom whose why will with would you your`,
    `das dem den der du ein eine einem einen einer es gibt haben hat ich ist kann muss darf mit nicht oder sich sie
    sind und viel viele von wann warum welche welcher welches werden wer wie wieviel wird wo zu zum zur`,
    `ce ces cette combien comment dans de des du elle est et je la le les leur nous ou par pas peut peux
    pour pourquoi quand que quel quelle quelles quels qui quoi se sont sur un une vous`,
    `como con cual cuando cuanto cuantos de del donde el en es esta hay la las los para por porque puede puedo
    que quien se su un una y`,
    `che chi cosa di dove e gli il in la le lo nel non per perche posso puo quale quando quanti quanto si sono`,
    `aan een en het hoe hoeveel ik je kan mag met naar of op te van voor waar waarom wanneer wat welke wie zijn`,
  ]
    .join(' ')
    .split(/\s+/),
)

/** The same for single Chinese characters. */
const STOP_CHARACTERS = new Set(
  '的了是在和有我你他她它们吗呢吧几什么哪怎谁为何可以一不这那个上里会能',
)

/** Weight of a single Chinese character, which says less than a pair. */
const CHARACTER_WORTH = 0.4
/** Scripts without blanks between words, in which the words that ask cannot be told from the others. */
const UNDIVIDED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/v
const HAN = /^\p{Script=Han}$/v

/** The words of a text, stemmed so that forms of a word match; stop words are omitted. */
function termsOf(text: string): string[] {
  const terms: string[] = []
  tokenise(
    text,
    (part) => part.toLowerCase(),
    (lower, start, end, also) => {
      const token = lower.slice(start, end)
      if (also ? isHanWord(token) : !STOP_CHARACTERS.has(token)) terms.push(...fold(token))
    },
  )
  return terms
}

/** Stems a token and removes stop words; the stemmer is made for English but harmless for other languages. */
function fold(token: string): string[] {
  if (!LATIN.test(token)) return [token]
  const plain = token.replace(APOSTROPHE_S, '').normalize('NFD').replace(MARKS, '')
  const words = plain.split(/['\u2019]/).filter((word) => word !== '' && !STOP_WORDS.has(word))
  return words.map((word) => stemmer.stem(word))
}

/** True for a single Chinese character that is not a stop word. */
function isHanWord(character: string): boolean {
  return HAN.test(character) && !STOP_CHARACTERS.has(character)
}
