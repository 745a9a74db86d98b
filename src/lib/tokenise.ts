/**
 * Takes one token, which is `text` from `start` to `end`. `also` marks a term that a text is found by on top
 * of its tokens: it adds nothing to its length.
 */
type TakeToken = (text: string, start: number, end: number, also: boolean) => void

/** Text is normalised in pieces of this many UTF-16 code units, because compatibility forms may grow it eighteenfold. */
const SLICE_LENGTH = 16_384
/** A longer run of letters is no word; it is indexed in pieces of this length. */
const MAX_TOKEN = 255
/** The most text the dictionary segmenter is given at once. */
const MAX_UNSPACED_RUN = 512

const NOT_ASCII = /[\u0080-\uffff]/
/** Soft hyphen, joiners, variation selectors, byte order mark: inside words, no part of them. ZERO WIDTH SPACE does separate words. */
const INVISIBLE = /(?!\u200b)\p{DI}/gu
/** No language stacks as many marks as UAX #15 allows in a stream, and putting a long run in order takes quadratic time. */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu
/** NFKC takes the vowels Thai and Lao SARA AM apart, but the dictionary knows them whole. */
const THAI_AM = /\u0e4d\u0e32/g
const LAO_AM = /\u0ecd\u0eb2/g

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' })

/**
 * Breaks `text` into lower-case NFKC words, linear in its length whatever it holds. Han, Kana and Hangul come
 * as overlapping pairs, a lone character as itself; each character of a pair comes too, marked `also`.
 */
export function tokenise(text: string, lowerCase: (text: string) => string, take: TakeToken): void {
  for (let start = 0; start < text.length; ) {
    const end = sliceEnd(text, start)
    scan(lowerCase(normalise(text.slice(start, end))), take)
    start = end
  }
}

/** Where a slice from `start` ends: after the last separator in reach, so that no word is cut unless it fills the slice. */
function sliceEnd(text: string, start: number): number {
  const furthest = start + SLICE_LENGTH
  if (furthest >= text.length) return text.length
  for (let end = furthest; end > start; end--) {
    if (kindOf(text.charCodeAt(end - 1)) === KIND.separator && !isSurrogate(text, end - 1))
      return end
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
  for (let position = 0; position < text.length; ) {
    const kind = kindAt(text, position)
    if (kind === KIND.word) {
      const end = wordEnd(text, position)
      for (let from = position; from < end; from += MAX_TOKEN) {
        take(text, from, Math.min(end, from + MAX_TOKEN), false)
      }
      position = end
    } else if (kind === KIND.ideograph) {
      const end = runEnd(text, position, KIND.ideograph)
      takePairs(text, position, end, take)
      position = end
    } else if (kind === KIND.unspaced) {
      const end = runEnd(text, position, KIND.unspaced)
      takeDictionaryWords(text, position, end, take)
      position = end
    } else position += widthAt(text, position)
  }
}

function kindAt(text: string, position: number): number {
  const unit = text.charCodeAt(position)
  return kindOf((unit & 0xf800) === 0xd800 ? (text.codePointAt(position) ?? unit) : unit)
}

function widthAt(text: string, position: number): number {
  return (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1
}

function wordEnd(text: string, start: number): number {
  let position = start + widthAt(text, start)
  while (position < text.length) {
    const kind = kindAt(text, position)
    if (kind === KIND.apostrophe) {
      if (position + 1 === text.length || kindAt(text, position + 1) !== KIND.word) break
    } else if (kind !== KIND.word && kind !== KIND.mark) break
    position += widthAt(text, position)
  }
  return position
}

function runEnd(text: string, start: number, kind: number): number {
  let position = start
  while (position < text.length) {
    const here = kindAt(text, position)
    if (here !== kind && here !== KIND.mark) break
    position += widthAt(text, position)
  }
  return position
}

function takePairs(text: string, start: number, end: number, take: TakeToken): void {
  let previous = start
  for (let position = start; position < end; ) {
    const next = Math.min(position + widthAt(text, position), end)
    if (position > start) take(text, previous, next, false)
    if (position > start || next < end) take(text, position, next, true)
    else take(text, start, end, false)
    previous = position
    position = next
  }
}

function takeDictionaryWords(text: string, start: number, end: number, take: TakeToken): void {
  for (let from = start; from < end; from += MAX_UNSPACED_RUN) {
    const piece = text.slice(from, Math.min(from + MAX_UNSPACED_RUN, end))
    for (const { segment, index, isWordLike } of wordSegmenter.segment(piece)) {
      if (isWordLike) take(text, from + index, from + index + segment.length, false)
    }
  }
}

/** How a code point takes part in a token. */
const KIND = {
  /** Ends every token. */
  separator: 1,
  /** A letter or number of a script that puts spaces between words. */
  word: 2,
  /** A combining mark: goes on with a word, never begins one. */
  mark: 3,
  /** Han, Kana, Hangul, Bopomofo: indexed as overlapping pairs. */
  ideograph: 4,
  /** Thai, Lao, Khmer, Burmese: words without spaces, found with a dictionary. */
  unspaced: 5,
  /** Joins two letters into one token, as in “don't” and “l'été”. */
  apostrophe: 6,
} as const

type Kind = (typeof KIND)[keyof typeof KIND]

const TOKEN_PART = /[\p{L}\p{N}\p{Mn}\p{Mc}]/u
const MARK = /[\p{Mn}\p{Mc}]/u
const IDEOGRAPH = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]/u
const UNSPACED = /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u
const APOSTROPHE = /['\u2019\u02bc]/

/** Zero where a code unit has not been met yet: most texts meet a few hundred of them. */
const known = new Uint8Array(0x10000)

function kindOf(codePoint: number): number {
  return known[codePoint] || classify(codePoint)
}

function classify(codePoint: number): Kind {
  const kind = kindOfCharacter(String.fromCodePoint(codePoint))
  if (codePoint < known.length) known[codePoint] = kind
  return kind
}

function kindOfCharacter(character: string): Kind {
  if (APOSTROPHE.test(character)) return KIND.apostrophe
  if (!TOKEN_PART.test(character)) return KIND.separator
  if (UNSPACED.test(character)) return KIND.unspaced
  if (MARK.test(character)) return KIND.mark
  return IDEOGRAPH.test(character) ? KIND.ideograph : KIND.word
}
