/** A hyphen at the end of a line: the word before it, and its continuation in the next line. */
const DIVIDED = /(?<![\p{L}\p{N}])([\p{L}\p{N}]+)[-\u{ad}‐]\n(\p{Ll}[\p{L}\p{N}]*)/gu
/** A code that a line divides at its own hyphen: `B-118`. */
const CODE = /(?<=\p{Lu})([-‐])\n(?=\d)/gu
const SOFT = '\u{ad}'
const WORD = /[\p{L}\p{N}]+(?:[-‐][\p{L}\p{N}]+)*/gu
/** Words that are known of a file. */
const MAX_WORDS = 200_000
/** Words that begin one with a hyphen, rather than a longer one without. */
const FIRST =
  /^(?:cross|decision|eight|five|four|full|half|high|ill|large|least|life|long|low|medium|multi|nine|non|peer|second|self|semi|seven|short|single|third|three|two|well|wide|world|\d+)$/i
/** Endings of words that syllables such as those above begin, too. */
const ENDING = /^(?:teen|teenth|er|ers|est|ing|ings|ness|ly|ed|ish|en|ened|ment|land|lands)$/i
/** And words that end one. */
const LAST = /^(?:based|built|driven|effective|friendly|known|minded|quality|specific)$/i

/**
 * Joins words that are divided at the ends of lines. A hyphen stays if the word has it elsewhere in the file, or if its
 * parts are words that are usually joined by one.
 */
export function createJoinDivided(texts: Iterable<string>): (text: string) => string {
  const words = new Set<string>()
  for (const text of texts) {
    for (const [word] of text.matchAll(WORD)) {
      if (words.size < MAX_WORDS) words.add(word.toLowerCase())
    }
  }
  const keepsHyphen = (first: string, last: string) => {
    if (words.has((first + last).toLowerCase())) return false
    return words.has(`${first}-${last}`.toLowerCase()) || isCompound(first, last)
  }
  return (text) =>
    text
      .replaceAll(CODE, '$1')
      .replaceAll(DIVIDED, (whole, first: string, last: string) =>
        !whole.includes(SOFT) && keepsHyphen(first, last) ? `${first}-${last}` : first + last,
      )
}

/** Whether two words usually have a hyphen between them. */
export const isCompound = (first: string, last: string) =>
  (FIRST.test(first) && !ENDING.test(last)) || (LAST.test(last) && first.length > 2)
