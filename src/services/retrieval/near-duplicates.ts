/** Share of common word runs from which two texts are near duplicates: measured, see docs/retrieval-quality.md. */
const MIN_RESEMBLANCE = 0.9
/** In a shorter text every word counts: `Door 4 is open` and `Door 4 is shut` say different things. */
const MIN_RUNS = 20

/** Non-ASCII word characters. Each character in `ALONE` is a word by itself: these scripts use no spaces. */
const LETTER = /[\p{L}\p{N}\p{M}]/u
const ALONE = /[\p{Ideographic}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u

/** The hashes by which texts are compared; cheap, since they are made for hits while a client waits. */
interface Fingerprint {
  /** Hashes of every three consecutive words. */
  runs: ReadonlySet<number>
  /** Hash of all words that contain a digit, in order. */
  numbers: number
}

interface Taken {
  text: string
  /** Computed on first comparison. */
  fingerprint?: Fingerprint
}

/**
 * Tells new texts from exact or near duplicates of texts taken before. Near duplicates are detected by the runs of
 * words that two texts share (Broder's resemblance, https://doi.org/10.1109/SEQUEN.1997.666900). Texts with different
 * numbers are never duplicates: table rows, versions and dates often differ in nothing else.
 */
export function createDistinctTexts() {
  const exact = new Set<string>()
  /** Texts taken, grouped by their digits: only texts of one group need to be compared. */
  const taken = new Map<string, Taken[]>()

  return {
    /** Takes a text unless it is a duplicate or near duplicate of one taken before; returns whether it did. */
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

/** Stops as soon as too many runs are not shared, which is early if the texts have little in common. */
function resembles({ runs, numbers }: Fingerprint, other: Fingerprint): boolean {
  if (numbers !== other.numbers || Math.min(runs.size, other.runs.size) < MIN_RUNS) return false
  const all = runs.size + other.runs.size
  // With `shared` runs in common, resemblance is shared / (all - shared).
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

/** Ignores case, and punctuation and white space between words. */
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
