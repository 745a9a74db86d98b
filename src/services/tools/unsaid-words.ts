/** Scripts that part no words, or join others to them: what they say is looked for as it stands. */
const UNPARTED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

/** The words of a value that a text does not have, in any case and any form of their letters. */
export function unsaidWords(value: string, text: string): string[] {
  const said = fold(text)
  const words = new Set(wordsOf(said))
  return [...new Set(wordsOf(fold(value)))].filter(
    (word) => !words.has(word) && !(UNPARTED.test(word) && said.includes(word)),
  )
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}
