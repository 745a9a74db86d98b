/** Two texts are nearly the same when they share this part of all their runs of words: measured, see docs/retrieval-quality.md. */
const SAME_PART = 0.9
/** In a shorter text every word counts: `Door 4 is open` and `Door 4 is shut` say different things. */
const FEWEST_RUNS = 20

interface Known {
  runs: number
  numbers: number
}

/** Tells texts that say something new from those that repeat what was taken, word for word or nearly so. */
interface DistinctTexts {
  /** Takes a text, unless it nearly is one that was taken before; answers whether it did. */
  take(text: string): boolean
}

/**
 * Near duplicates are found by the runs of words that two texts share (Broder's resemblance,
 * https://doi.org/10.1109/SEQUEN.1997.666900). All who hold a run are listed with it, so that the work grows
 * with the text and its likes, not with all that was taken. Texts with other numbers in them are never the
 * same: a row, a version and a date differ from the next in little else.
 */
export function createDistinctTexts(): DistinctTexts {
  const exact = new Set<string>()
  const known: Known[] = []
  const holders = new Map<number, number[]>()

  const isKnown = (runs: ReadonlySet<number>, numbers: number) => {
    const shared = new Map<number, number>()
    for (const run of runs) {
      for (const holder of holders.get(run) ?? []) shared.set(holder, (shared.get(holder) ?? 0) + 1)
    }
    return shared.entries().some(([holder, count]) => {
      const other = known[holder]
      if (!other || other.numbers !== numbers) return false
      return count / (other.runs + runs.size - count) >= SAME_PART
    })
  }

  const remember = (runs: ReadonlySet<number>, numbers: number) => {
    const holder = known.push({ runs: runs.size, numbers }) - 1
    for (const run of runs) {
      const others = holders.get(run)
      if (others) others.push(holder)
      else holders.set(run, [holder])
    }
  }

  return {
    take(text) {
      if (exact.has(text)) return false
      const { runs, numbers } = fingerprint(text)
      if (runs.size >= FEWEST_RUNS) {
        if (isKnown(runs, numbers)) return false
        remember(runs, numbers)
      }
      exact.add(text)
      return true
    },
  }
}

/** What is compared of two texts: hashes, since they are made for every hit while somebody waits. */
interface Fingerprint {
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
function fingerprint(text: string): Fingerprint {
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
