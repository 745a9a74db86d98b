/**
 * Share of common word runs from which two texts are near duplicates. In Cranfield, CACM, NPL and CISI, nine pairs of
 * documents reach it, each the same abstract printed twice.
 */
const MIN_RESEMBLANCE = 0.9
/** In a shorter text every word counts: `Door 4 is open` and `Door 4 is shut` say different things. */
const MIN_RUNS = 20
/** Texts whose lengths differ by more than this are not compared: they cannot have enough in common. */
const MIN_LENGTH_RATIO = 0.8

/** Words; a character of a script that uses no spaces is a word by itself. */
const WORDS =
  /[\p{Ideographic}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]|[\p{L}\p{N}\p{M}]+/gu

/** Cheap to make, since it is made for hits while a client waits. */
interface Fingerprint {
  /** Hashes of every three consecutive words. */
  runs: ReadonlySet<number>
  /** All words that contain a digit, in order. */
  numbers: string
}

interface DistinctText {
  text: string
  /** Made on first comparison. */
  fingerprint?: Fingerprint
}

/**
 * Distinguishes new texts from exact or near duplicates of earlier ones. Near duplicates are detected by the runs of
 * words that two texts share (Broder's resemblance, https://doi.org/10.1109/SEQUEN.1997.666900). Texts with different
 * numbers are never duplicates: table rows, versions and dates often differ in nothing else.
 */
export function createDistinctTexts() {
  /** By a hash of their digits: only texts with the same ones need to be compared. */
  const byDigits = new Map<number, DistinctText[]>()

  return {
    /** Returns whether a text is new, and remembers it; false for a duplicate or near duplicate of an earlier one. */
    add(text: string): boolean {
      const digits = hashOfDigits(text)
      const others = byDigits.get(digits) ?? []
      const candidate: DistinctText = { text }
      if (others.some((other) => other.text === text || resembles(candidate, other))) return false
      byDigits.set(digits, [...others, candidate])
      return true
    },
  }
}

function resembles(some: DistinctText, other: DistinctText): boolean {
  const lengths = [some.text.length, other.text.length]
  if (Math.min(...lengths) < MIN_LENGTH_RATIO * Math.max(...lengths)) return false
  const [first, second] = [fingerprintOf(some), fingerprintOf(other)]
  if (first.numbers !== second.numbers || Math.min(first.runs.size, second.runs.size) < MIN_RUNS)
    return false
  let shared = 0
  for (const run of first.runs) if (second.runs.has(run)) shared += 1
  return shared / (first.runs.size + second.runs.size - shared) >= MIN_RESEMBLANCE
}

/** Ignores case, and punctuation and white space between words. */
function fingerprintOf(distinct: DistinctText): Fingerprint {
  if (distinct.fingerprint) return distinct.fingerprint
  const words = distinct.text.toLowerCase().match(WORDS) ?? []
  const runs = new Set<number>()
  let [beforeLast, last] = [0, 0]
  for (const [place, word] of words.entries()) {
    const hash = hashOf(word)
    if (place > 1) runs.add(mix(mix(mix(0, beforeLast), last), hash) >> 2)
    beforeLast = last
    last = hash
  }
  const numbers = words.filter((word) => /\d/.test(word)).join(' ')
  distinct.fingerprint = { runs, numbers }
  return distinct.fingerprint
}

const FNV_BASIS = 0x811c9dc5
const [ZERO, NINE] = [0x30, 0x39]

/** FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, of which V8 keeps the upper 30 bits without an allocation. */
function hashOf(word: string): number {
  let hash = FNV_BASIS
  for (let i = 0; i < word.length; i++) hash = mix(hash, word.charCodeAt(i))
  return hash
}

/** Hashes what `/\d+/g` finds in a text. */
function hashOfDigits(text: string): number {
  let hash = FNV_BASIS
  let isNumber = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isDigit = code >= ZERO && code <= NINE
    if (isDigit) hash = mix(isNumber ? hash : mix(hash, 0), code)
    isNumber = isDigit
  }
  return hash
}

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x01000193)
}
