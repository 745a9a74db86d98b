import { createRequire } from 'node:module'
import type * as Stemmers from 'snowball-stemmers'

/**
 * Receives one token: `text` from `start` to `end`. `also` marks an extra term under which a text is found in
 * addition to its tokens; it does not add to the text's length.
 */
type TakeToken = (text: string, start: number, end: number, also: boolean) => void

/** Text is normalised in pieces of this many UTF-16 code units, because compatibility forms may grow it eighteenfold. */
const SLICE_LENGTH = 16_384
/** A longer run of letters is no word; it is indexed in parts of this length. */
const MAX_TOKEN = 255
/** Maximum length of text passed to the dictionary segmenter at once. */
const MAX_UNSPACED_RUN = 512

const NOT_ASCII = /[\u0080-\uffff]/
/**
 * Soft hyphen, joiners, variation selectors, byte order mark: within words, but not part of them. ZERO WIDTH SPACE does
 * separate words.
 */
const INVISIBLE = /(?!\u200b)\p{DI}/gu
/** No language stacks as many marks as UAX #15 allows in a stream, and sorting a long run takes quadratic time. */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu
/** NFKC decomposes the vowels Thai and Lao SARA AM, but the dictionary has them composed. */
const THAI_AM = /\u0e4d\u0e32/g
const LAO_AM = /\u0ecd\u0eb2/g

const TOKEN_PART = /[\p{L}\p{N}\p{Mn}\p{Mc}'\u2019\u02bc]/u

/** Thai, Lao, Khmer, Burmese: words without spaces, segmented with a dictionary. */
const UNSPACED_SCRIPT = String.raw`[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`
/** Han, Kana, Hangul, Bopomofo: indexed as overlapping pairs. */
const PAIRED_SCRIPT = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]`
/** Joins two letters into one token, as in “don't” and “l'été”. */
const APOSTROPHE = String.raw`['\u2019\u02bc]`
const UNSPACED = String.raw`[[\p{L}\p{N}\p{Mn}\p{Mc}]&&${UNSPACED_SCRIPT}]`
const IDEOGRAPH = String.raw`[[[\p{L}\p{N}]&&${PAIRED_SCRIPT}]--${UNSPACED_SCRIPT}]`
/** A letter or number of a script that puts spaces between words. */
const LETTER = String.raw`[[\p{L}\p{N}]--${UNSPACED_SCRIPT}--${PAIRED_SCRIPT}--${APOSTROPHE}]`
/** Continues a word, never begins one. */
const MARK = String.raw`[[\p{Mn}\p{Mc}]--${UNSPACED_SCRIPT}]`
const WORD = `${LETTER}[${LETTER}${MARK}]*`
/** A word, ideographs (the first group), or words without spaces (the second). */
const RUN = new RegExp(
  [
    `${WORD}(?:${APOSTROPHE}${WORD})*`,
    `(${IDEOGRAPH}[${IDEOGRAPH}${MARK}]*)`,
    `(${UNSPACED}[${UNSPACED}${MARK}]*)`,
  ].join('|'),
  'gv',
)

/** Created for the first text that needs a dictionary: loading one takes longer than tokenising most texts. */
let wordSegmenter: Intl.Segmenter | undefined

/**
 * Splits `text` into lower-case NFKC words, in time linear in its length, whatever it holds. Han, Kana and Hangul
 * yield overlapping pairs, a lone character itself; each character of a pair is yielded as well, marked `also`.
 */
export function tokenise(text: string, lowerCase: (text: string) => string, take: TakeToken): void {
  for (let start = 0; start < text.length; ) {
    const end = sliceEnd(text, start)
    scan(lowerCase(normalise(text.slice(start, end))), take)
    start = end
  }
}

/**
 * The end of a slice from `start`: after the last separator within its length, so that a word is cut only if it fills
 * the slice.
 */
function sliceEnd(text: string, start: number): number {
  const furthest = start + SLICE_LENGTH
  if (furthest >= text.length) return text.length
  for (let end = furthest; end > start; end--) {
    if (!TOKEN_PART.test(text.charAt(end - 1)) && !isSurrogate(text, end - 1)) return end
  }
  return isSurrogate(text, furthest - 1) ? furthest - 1 : furthest
}

function isSurrogate(text: string, position: number): boolean {
  return (text.charCodeAt(position) & 0xf800) === 0xd800
}

function normalise(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  return text
    .replace(TOO_MANY_MARKS, '$1')
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(THAI_AM, '\u0e33')
    .replace(LAO_AM, '\u0eb3')
}

function scan(text: string, take: TakeToken): void {
  const takePart = createCodeReader(text, take)
  for (const { index, 0: run, 1: ideographs, 2: unspaced } of text.matchAll(RUN)) {
    const end = index + run.length
    if (ideographs) takePairs(text, index, end, take)
    else if (unspaced) takeDictionaryWords(text, index, end, take)
    else {
      takeWord(text, index, end, take)
      takePart(run, index)
    }
  }
}

/** A part of a code such as PPR-9087 or INV-2024-0017; longer ones are words and numbers. */
const CODE_PART = /^(?:\p{L}{1,8}|\p{L}{0,4}\d{1,12}\p{L}?)$/u
const MAX_CODE = 24
const CODE_SEPARATOR = /^[-_/.\u2010\u2011\u2013]$/
/** After a blank, longer letters are words, and shorter numbers are counts. */
const SPACED_LETTERS = /^\p{L}{2,5}$/u
const SPACED_NUMBER = /^\d{3,12}$/
const UNDIVIDED = /^(\p{L}{2,8})(\d{2,12}\p{L}?)$/u

/**
 * People write a code with hyphens, underscores, a blank or nothing between its parts: it is found by each. The words of
 * a text are given in their order.
 */
function createCodeReader(text: string, take: TakeToken) {
  let code = ''
  let codeEnd = -1
  const also = (term: string) => take(term, 0, term.length, true)
  return (word: string, start: number): void => {
    const separator = start === codeEnd + 1 ? text.charAt(codeEnd) : ''
    codeEnd = start + word.length
    const hasDigit = DIGIT.test(word)
    const isJoined = (hasDigit || separator !== ' ') && areJoined(code, separator, word)
    code = isJoined ? code + word : word
    if (isJoined && HAS_BOTH.test(code)) also(code)
    if (hasDigit) takePartsOfCode(word, also)
  }
}

function takePartsOfCode(word: string, also: (term: string) => void): void {
  for (const part of UNDIVIDED.exec(word)?.slice(1) ?? []) also(part)
}

function areJoined(code: string, separator: string, part: string): boolean {
  if (separator === '' || code.length + part.length > MAX_CODE) return false
  if (separator === ' ') return SPACED_LETTERS.test(code) && SPACED_NUMBER.test(part)
  return CODE_SEPARATOR.test(separator) && CODE_PART.test(part) && CODE_START.test(code)
}

/** What a code may begin with: a part of one, or several that were joined. */
const CODE_START = /^(?:\p{L}{1,8}|.*\d.*)$/u
const DIGIT = /\d/
const HAS_BOTH = /\p{L}.*\d|\d.*\p{L}/u

function takeWord(text: string, start: number, end: number, take: TakeToken): void {
  for (let from = start; from < end; from += MAX_TOKEN) {
    take(text, from, Math.min(end, from + MAX_TOKEN), false)
  }
}

function takePairs(text: string, start: number, end: number, take: TakeToken): void {
  let previous = start
  for (let position = start; position < end; ) {
    const width = (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1
    const next = Math.min(position + width, end)
    if (position > start) take(text, previous, next, false)
    if (position > start || next < end) take(text, position, next, true)
    else take(text, start, end, false)
    previous = position
    position = next
  }
}

function takeDictionaryWords(text: string, start: number, end: number, take: TakeToken): void {
  wordSegmenter ??= new Intl.Segmenter('und', { granularity: 'word' })
  for (let from = start; from < end; from += MAX_UNSPACED_RUN) {
    const piece = text.slice(from, Math.min(from + MAX_UNSPACED_RUN, end))
    for (const { segment, index, isWordLike } of wordSegmenter.segment(piece)) {
      if (isWordLike) take(text, from + index, from + index + segment.length, false)
    }
  }
}

// All languages are in one file of 850 kB, of which Node.js keeps a second copy if a module imports it.
export const { newStemmer }: typeof Stemmers = createRequire(import.meta.url)('snowball-stemmers')
