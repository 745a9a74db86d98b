/** Two texts are nearly the same when they share this part of all their runs of words: measured, see docs/retrieval-quality.md. */
const MIN_RESEMBLANCE = 0.9
/** In a shorter text every word counts: `Door 4 is open` and `Door 4 is shut` say different things. */
const MIN_RUNS = 20

/** What words are made of beyond ASCII; of what stands in `ALONE`, each is a word, since these scripts have no blanks. */
const LETTER = /[\p{L}\p{N}\p{M}]/u
const ALONE = /[\p{Ideographic}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u

/** What is compared of two texts: hashes, since they are made for every hit while somebody waits. */
interface Fingerprint {
  /** Of every three words in a row. */
  runs: ReadonlySet<number>
  /** Of all words with a digit in them, in their order. */
  numbers: number
}

interface Taken {
  text: string
  /** Made once it is compared. */
  fingerprint?: Fingerprint
}

/**
 * Distinguishes texts that say something new from those that repeat what was taken, word for word or nearly so.
 * Near duplicates are found by the runs of words that two texts share (Broder's resemblance,
 * https://doi.org/10.1109/SEQUEN.1997.666900). Texts with other numbers in them are never the same: a row, a version
 * and a date differ from the next in little else.
 */
export function createDistinctTexts() {
  const exact = new Set<string>()
  /** What was taken, by its digits: others have other numbers in them, and need not be compared. */
  const taken = new Map<string, Taken[]>()

  return {
    /** Takes a text, unless it nearly is one that was taken before; answers whether it did. */
    take(text: string): boolean {
      if (exact.has(text)) return false
      const digits = text.match(/\d+/g)?.join() ?? ''
      const others = taken.get(digits) ?? []
      const own: Taken = { text }
      if (others.some((other) => resembles(fingerprintOf(own), fingerprintOf(other)))) return false
      taken.set(digits, [...others, own])
      exact.add(text)
      return true
    },
  }
}

/** Ends as soon as too many runs are not shared, which is after a few of them where two texts have little in common. */
function resembles({ runs, numbers }: Fingerprint, other: Fingerprint): boolean {
  if (numbers !== other.numbers || Math.min(runs.size, other.runs.size) < MIN_RUNS) return false
  const all = runs.size + other.runs.size
  // Of `shared` runs of both, resemblance is shared / (all - shared).
  let spare = runs.size - (MIN_RESEMBLANCE * all) / (1 + MIN_RESEMBLANCE)
  for (const run of runs) {
    if (!other.runs.has(run) && --spare < 0) return false
  }
  return spare >= 0
}

function fingerprintOf(taken: Taken): Fingerprint {
  taken.fingerprint ??= makeFingerprint(taken.text)
  return taken.fingerprint
}

/** Neither case nor what stands between words makes a difference. */
function makeFingerprint(text: string): Fingerprint {
  const lower = text.toLowerCase()
  const runs = new Set<number>()
  let numbers = OFFSET
  let [before, last, words] = [0, 0, 0]
  let word = OFFSET
  let hasDigit = false
  const endWord = () => {
    if (word === OFFSET) return
    if (hasDigit) numbers = mix(numbers, word)
    if (++words > 2) runs.add(mix(mix(before, last), word))
    before = last
    last = word
    word = OFFSET
    hasDigit = false
  }
  for (let i = 0; i < lower.length; i++) {
    const unit = lower.charCodeAt(i)
    if (!isWord(unit)) {
      endWord()
      continue
    }
    const isAlone = unit > 0x7f && ALONE.test(lower.charAt(i))
    if (isAlone) endWord()
    word = mix(word, unit)
    hasDigit ||= isDigit(unit)
    if (isAlone) endWord()
  }
  endWord()
  return { runs, numbers }
}

function isWord(unit: number): boolean {
  if (unit > 0x7f) return LETTER.test(String.fromCharCode(unit))
  return isDigit(unit) || (unit >= 0x61 && unit <= 0x7a)
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, PRIME)
}
