import type { Citation } from '@agent-server/schemas/citation.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { saysNothing } from './abstention.ts'

/** The search terms of a text, e.g. its stemmed words. */
export type TermsOf = (text: string) => Iterable<number>

/** Called with each mark that is shown, in their order. */
export type OnMark = (number: number, by: Citation['by']) => void

/** The minimum share and number of terms that a sentence has in common with its source. */
const MIN_SHARE = 0.5
const MIN_TERMS = 2
/** A mark stays if its passage shares more than this part of what the source shares. */
const MAX_SHARE_OF_SOURCE = 0.5
/** Maximum UTF-16 code units of a sentence that are compared, and of a pause that is held back. */
const MAX_SENTENCE = 1_000
const MAX_PAUSE = 100

/** Stands for a number that no hit has, which is shown as `[?]`. */
const UNKNOWN = 0
const MARK = /\[(\d+|\?)\]/g
/** What stands between two words or after a sentence: white space, and punctuation that may close a sentence. */
const PAUSE = String.raw`[\s.!?\u2026\u3002\uff01\uff1f"'\u201c\u201d\u2019\u00bb\u300d)*_]`
const PAUSES_AND_WORDS = new RegExp(`(${PAUSE}+)|(?:(?!${PAUSE}).)+`, 'gsu')
const STOP = /[.!?\u2026\u3002\uff01\uff1f]/
const SENTENCE_END = /[.!?\u2026]\S*\s|[\u3002\uff01\uff1f]|\n/
/** An empty line, or the mark of a list item. */
const NEW_BLOCK = /\n\s*[\n*]/
/** What a full stop may follow within a sentence: a single letter, an ordinal number, an abbreviation. */
const ABBREVIATION =
  /(?:^|[\s(.])(?:\p{L}|\d{1,2}|approx|bzw|ca|cf|co|dr|eq|etc|fig|inc|jr|ltd|mr|mrs|ms|no|nr|pp|prof|sr|st|vol|vs)$/iu
/** The end of a question, of an introduction, or of a heading in bold. */
const UNCITED = /[:?\uff1a\uff1f]$|(?<![.!])(?:\*\*|__)$/
/** Scripts that put no space before a mark. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]$/u

/**
 * Repairs the citations of a streamed answer, because small models say what one passage says and cite another one, or
 * none. The source of a sentence is the one passage that shares most of its terms with it, if that is at least half of
 * them. A sentence without a mark gets the mark of its source, when it ends. A mark is replaced only if its passage
 * shares at most half as much as the source with the text before it, and the source was not cited there first: what a
 * model says in words of its own, or in another language than the passage, keeps its mark. A mark before its sentence
 * stays; if it is wrong by this measure, the right one follows the sentence. Headings, also where a fragment repeats
 * one of the source, tables, questions, code, and sentences that say that the passages do not say something get no marks.
 *
 * Nothing is held back but white space and punctuation, until the next word or mark.
 */
export class Attribution {
  readonly #compare: Compare
  readonly #onMark: OnMark
  #sentence: Sentence
  /** White space and punctuation since the last word or mark, and the text not shown yet. */
  #pause = '\n'
  #pendingText = ''
  /** Whether the last mark follows the end of its sentence. */
  #isOver = false
  #isUncitedLine = false

  constructor(hits: readonly Hit[], termsOf: TermsOf, onMark: OnMark) {
    this.#compare = createComparison(hits, termsOf)
    this.#onMark = onMark
    this.#sentence = new Sentence(this.#compare, onMark)
  }

  /** Takes text that is neither code nor a mark; returns what can be shown now. */
  text(piece: string): string {
    return piece.replaceAll(PAUSES_AND_WORDS, (run, pauses) =>
      pauses ? this.#hold(run) : this.#read(run),
    )
  }

  /** Takes code, in a line or in lines of its own; these belong to no sentence. */
  code(piece: string): string {
    const shown = this.#read(piece)
    if (piece.includes('\n')) this.#isUncitedLine = true
    return shown
  }

  /** Takes marks that follow one another, such as `[1][?]`; returns what can be shown now. */
  marks(marks: string): string {
    const isNewLine = this.#pause.includes('\n')
    const isNext = isNewLine || (this.#sentence.hasMarks() && SENTENCE_END.test(this.#pause))
    const ended = isNext ? this.#endSentence() : ''
    if (isNewLine) this.#isUncitedLine = false
    const shown = this.#isUncitedLine ? this.#keep(marks) : this.#sentence.cite(marks)
    this.#isOver ||= STOP.test(this.#pause)
    this.#pause = ''
    // The space before a mark that goes would be a space too many.
    if (shown === '') this.#pendingText = this.#pendingText.trimEnd()
    return ended + this.#release() + shown
  }

  /** Ends the text; returns the rest of it. A sentence that is cut off gets no mark. */
  end(isWhole: boolean): string {
    return isWhole ? this.#endSentence() : this.#release()
  }

  #hold(pauses: string): string {
    let shown = ''
    for (const character of pauses) {
      this.#pause = (this.#pause + character).slice(-MAX_PAUSE)
      this.#pendingText += character
      if (this.#pendingText.length > MAX_PAUSE) shown += this.#release()
    }
    return shown
  }

  #read(words: string): string {
    const isNewLine = this.#pause.includes('\n')
    const shown = this.#isNewSentence(words) ? this.#endSentence() : this.#release()
    if (isNewLine) this.#isUncitedLine = /^[|#]/.test(words)
    this.#sentence.add(this.#pause, words)
    this.#pause = ''
    return shown + words
  }

  #isNewSentence(next: string): boolean {
    const pause = this.#pause
    if (!SENTENCE_END.test(this.#isOver ? `.${pause}` : pause)) return false
    if (/^\p{Ll}/u.test(next) && !NEW_BLOCK.test(pause)) return false
    return pause.includes('\n') || !pause.startsWith('.') || !this.#sentence.endsAbbreviated()
  }

  #endSentence(): string {
    const mark = this.#isUncitedLine ? '' : this.#sentence.missingMark(this.#pause)
    this.#sentence = new Sentence(this.#compare, this.#onMark)
    this.#pause = ''
    this.#isOver = false
    return mark + this.#release()
  }

  #keep(marks: string): string {
    for (const number of numbersIn(marks)) this.#onMark(number, 'model')
    return marks
  }

  #release(): string {
    const shown = this.#pendingText
    this.#pendingText = ''
    return shown
  }
}

/** What one sentence says and cites. */
class Sentence {
  readonly #compare: Compare
  readonly #onMark: OnMark
  #isEmpty = true
  /** The text since the last mark, and how the text before that mark compared. */
  #claim = ''
  #comparison: ReturnType<Compare>
  /** The numbers before the sentence, and those behind its last part. */
  readonly #leading: number[] = []
  readonly #following = new Set<number>()
  /** Whether the model itself has cited the source there: then its other marks are right, too. */
  #isRight = false
  /** Whether that text says that the passages do not say something: then it has no source. */
  #saysNothing = false

  constructor(compare: Compare, onMark: OnMark) {
    this.#compare = compare
    this.#onMark = onMark
    this.#comparison = compare('')
  }

  hasMarks(): boolean {
    return this.#leading.length > 0 || this.#following.size > 0
  }

  endsAbbreviated(): boolean {
    return ABBREVIATION.test(this.#claim)
  }

  add(pause: string, words: string): void {
    this.#isEmpty = false
    // To cut it again would copy it for each word.
    if (this.#claim.length === MAX_SENTENCE) return
    this.#claim = `${this.#claim}${this.#claim && pause}${words}`.slice(0, MAX_SENTENCE)
  }

  /** Returns how the next marks are shown: before the sentence unchanged, after it without repetitions. */
  cite(marks: string): string {
    const numbers = numbersIn(marks)
    if (this.#isEmpty) {
      for (const number of numbers) this.#onMark(number, 'model')
      this.#leading.push(...numbers)
      return marks
    }
    if (this.#claim !== '') {
      const similar = this.#compare(this.#claim)
      if (similar.size > 0) this.#comparison = similar
      this.#following.clear()
      this.#isRight = false
      this.#saysNothing = !similar.isCopied && saysNothing(this.#claim)
      this.#claim = ''
    }
    return marks.replaceAll(MARK, (mark, number) => this.#settle(mark, number, numbers))
  }

  /** The mark that the sentence needs at its end, with the space before it. */
  missingMark(pause: string): string {
    const claim = this.#claim
    const ending = pause.replace(/\n.*/s, '')
    if (this.#following.size > 0 || UNCITED.test((claim + ending).trimEnd())) return ''
    const { source, rightNumber, isHeading, isCopied } = this.#compare(claim)
    if (source === undefined || (!STOP.test(ending) && isHeading())) return ''
    if (!isCopied && saysNothing(claim)) return ''
    if (this.#leading.some((number) => rightNumber(number) === number)) return ''
    this.#onMark(source, 'server')
    return `${UNSPACED.test(claim) ? '' : ' '}[${source}]`
  }

  /** The mark that is shown for a number; empty if it would be repeated. */
  #settle(mark: string, number: string, beside: readonly number[]): string {
    const { source, rightNumber } = this.#comparison
    if (number === '?') {
      this.#following.add(UNKNOWN)
      if (source === undefined || this.#saysNothing) return mark
      if (this.#following.has(source) || beside.includes(source)) return mark
      // A small model copies the number of an example, also where there are fewer passages.
      this.#following.add(source)
      this.#onMark(source, 'server')
      return `${mark}[${source}]`
    }
    this.#isRight ||= Number(number) === source && this.#following.size === 0
    const right = this.#isRight ? Number(number) : rightNumber(Number(number))
    if (this.#following.has(right)) return ''
    this.#following.add(right)
    this.#onMark(right, right === Number(number) ? 'model' : 'server')
    return `[${right}]`
  }
}

type Compare = ReturnType<typeof createComparison>

function numbersIn(marks: string): number[] {
  return Array.from(marks.matchAll(MARK), ([, digits]) => Number(digits)).filter(Number.isInteger)
}

/** Compares texts with the hits, by the terms that they share. */
function createComparison(hits: readonly Hit[], termsOf: TermsOf) {
  let passageTerms: Set<number>[] | undefined
  /** Read with the first sentence: an answer may have none, but only calls of tools. */
  const passages = () =>
    (passageTerms ??= hits.map(
      ({ title, heading = '', text }) => new Set(termsOf(`${title} ${heading} ${text}`)),
    ))
  return (text: string) => {
    const terms = [...new Set(termsOf(text))]
    const sharedBy = (passage: Set<number>) => terms.filter((term) => passage.has(term)).length
    // So few terms have no source.
    const shared = terms.length < MIN_TERMS ? [] : passages().map(sharedBy)
    const most = Math.max(0, ...shared)
    const isEnough = most >= Math.max(MIN_TERMS, terms.length * MIN_SHARE)
    const isOne = shared.indexOf(most) === shared.lastIndexOf(most)
    const source = isEnough && isOne ? shared.indexOf(most) + 1 : undefined
    return {
      /** How many terms the text has. */
      size: terms.length,
      /** The number of its source, if it has one. */
      source,
      /** Whether it has all of its terms, as a copied sentence does. */
      isCopied: most === terms.length,
      /** Whether the text says no more than the heading of its source. */
      isHeading(): boolean {
        const { title = '', heading = '' } = hits[(source ?? 0) - 1] ?? {}
        const headingTerms = new Set(termsOf(`${title} ${heading}`))
        return terms.every((term) => headingTerms.has(term))
      },
      /** The number itself, or that of the source if the number's passage shares far less. */
      rightNumber(number: number): number {
        const isWrong = (shared[number - 1] ?? 0) <= most * MAX_SHARE_OF_SOURCE
        return source !== undefined && isWrong ? source : number
      },
    }
  }
}
