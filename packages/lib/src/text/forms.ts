/** A text in one form, with where each of its characters comes from. */
interface FoldedText {
  text: string
  /** The offset in the original of a character at an offset in `text`; its length for what is behind the last. */
  originOf(offset: number): number
}

/** ASCII but for a character that marks follow, syllables of Korean in pieces, and characters with their marks. */
const PIECES =
  /(?:[\0-\x7f](?!\p{M}))+|[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|.\p{M}{0,30}/gsu
const BEYOND_ASCII = /[^\0-\x7f]/
/** Soft hyphens, and what joins or parts letters without being seen. */
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032\u02bc]/gu, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb]/gu, '"'],
  [/[\u2010-\u2015\u2212]/gu, '-'],
]

const folded = (piece: string) =>
  SIGNS.reduce(
    (text, [signs, plain]) => text.replaceAll(signs, plain),
    piece.normalize('NFKC').replaceAll(INVISIBLE, ''),
  )

/**
 * Writes a text in the one form that all ways of writing it have in common: letters with their accents in one
 * character, without ligatures, full width, curly quotes, soft hyphens and the like.
 */
export function foldForms(text: string): FoldedText {
  if (!BEYOND_ASCII.test(text)) return { text, originOf: (offset) => offset }
  const parts: string[] = []
  const origins: number[] = []
  for (const { 0: piece, index } of text.matchAll(PIECES)) {
    const isPlain = !BEYOND_ASCII.test(piece)
    const part = isPlain ? piece : folded(piece)
    parts.push(part)
    for (let at = 0; at < part.length; at++) origins.push(isPlain ? index + at : index)
  }
  return { text: parts.join(''), originOf: (offset) => origins[offset] ?? text.length }
}
