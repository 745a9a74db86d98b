/** How a code point takes part in a token. */
export const KIND = {
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

export type Kind = (typeof KIND)[keyof typeof KIND]

const TOKEN_PART = /[\p{L}\p{N}\p{Mn}\p{Mc}]/u
const MARK = /[\p{Mn}\p{Mc}]/u
const IDEOGRAPH = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]/u
const UNSPACED = /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u
const APOSTROPHE = /['\u2019\u02bc]/

/** Zero where a code unit has not been met yet: most texts meet a few hundred of them. */
const known = new Uint8Array(0x10000)

export function kindOf(codePoint: number): number {
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
