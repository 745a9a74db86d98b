/** What is compared of two texts: hashes, since they are made for every hit while somebody waits. */
export interface Fingerprint {
  /** Of every three words in a row. */
  runs: Set<number>
  /** Of all words with a digit in them, in their order. */
  numbers: number
}

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** What the code units of lower-case text are to a word. */
const KIND = { blank: 0, letter: 1, digit: 2, wholeWord: 3 } as const
/** Marks beyond ASCII: those of Latin-1, the general ones, and those of East Asia. */
const MARKS = [
  [0x80, 0xbf],
  [0x2000, 0x206f],
  [0x3000, 0x303f],
] as const
/** From here on stand the scripts that put no blanks between words, each character of which is taken for one. */
const FIRST_UNSPACED = 0x2e80

const ASCII_KINDS = Uint8Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit)
  if (/[a-z]/.test(character)) return KIND.letter
  return /\d/.test(character) ? KIND.digit : KIND.blank
})

/** Neither case nor what stands between words makes a difference. */
export function fingerprint(text: string): Fingerprint {
  const runs = new Set<number>()
  let numbers = OFFSET
  let [before, last, words] = [0, 0, 0]

  const end = (word: number, hasDigit: boolean) => {
    if (hasDigit) numbers = mix(numbers, word)
    if (++words > 2) runs.add(mix(mix(before, last), word))
    before = last
    last = word
  }
  readWords(text.toLowerCase(), end)
  return { runs, numbers }
}

function readWords(text: string, end: (word: number, hasDigit: boolean) => void): void {
  let word = OFFSET
  let hasDigit = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    const kind = kindOf(unit)
    if (kind !== KIND.letter && kind !== KIND.digit && word !== OFFSET) {
      end(word, hasDigit)
      word = OFFSET
      hasDigit = false
    }
    if (kind === KIND.wholeWord) end(mix(OFFSET, unit), false)
    else if (kind !== KIND.blank) word = mix(word, unit)
    hasDigit ||= kind === KIND.digit
  }
  if (word !== OFFSET) end(word, hasDigit)
}

function kindOf(unit: number): number {
  if (unit < ASCII_KINDS.length) return ASCII_KINDS[unit] ?? KIND.blank
  if (MARKS.some(([first, last]) => unit >= first && unit <= last)) return KIND.blank
  return unit < FIRST_UNSPACED ? KIND.letter : KIND.wholeWord
}

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, PRIME)
}
