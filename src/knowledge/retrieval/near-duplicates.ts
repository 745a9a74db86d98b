/**
 * Share of common word runs from which two texts are near duplicates. In Cranfield, CACM, NPL and CISI, nine pairs of
 * documents reach it, each the same abstract printed twice.
 */
const MIN_RESEMBLANCE = 0.9
/** In a shorter text every word counts: `Door 4 is open` and `Door 4 is shut` say different things. */
const MIN_RUNS = 20
/** Texts of which one is that much shorter are not compared: they cannot have enough in common. */
const MIN_LENGTH_RATIO = 0.8

/** Words; a character of a script that uses no spaces is a word by itself. */
const WORDS =
  /[\p{Ideographic}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]|[\p{L}\p{N}\p{M}]+/gu

interface Fingerprint {
  /** Every three consecutive words. */
  runs: ReadonlySet<string>
  /** All words that contain a digit, in order. */
  numbers: string
}

interface Taken {
  text: string
  /** Made on first comparison. */
  fingerprint?: Fingerprint
}

/**
 * Tells new texts from exact or near duplicates of texts taken before. Near duplicates are detected by the runs of
 * words that two texts share (Broder's resemblance, https://doi.org/10.1109/SEQUEN.1997.666900). Texts with different
 * numbers are never duplicates: table rows, versions and dates often differ in nothing else.
 */
export function createDistinctTexts() {
  /** Texts taken, grouped by their digits: only texts of one group need to be compared. */
  const taken = new Map<string, Taken[]>()

  return {
    /** Takes a text unless it is a duplicate or near duplicate of one taken before; returns whether it did. */
    take(text: string): boolean {
      const digits = text.match(/\d+/g)?.join() ?? ''
      const others = taken.get(digits) ?? []
      const own: Taken = { text }
      if (others.some((other) => other.text === text || resembles(own, other))) return false
      taken.set(digits, [...others, own])
      return true
    },
  }
}

function resembles(some: Taken, other: Taken): boolean {
  const lengths = [some.text.length, other.text.length]
  if (Math.min(...lengths) < MIN_LENGTH_RATIO * Math.max(...lengths)) return false
  const [own, its] = [fingerprintOf(some), fingerprintOf(other)]
  if (own.numbers !== its.numbers || Math.min(own.runs.size, its.runs.size) < MIN_RUNS) return false
  const shared = Array.from(own.runs).filter((run) => its.runs.has(run)).length
  return shared / (own.runs.size + its.runs.size - shared) >= MIN_RESEMBLANCE
}

/** Ignores case, and punctuation and white space between words. */
function fingerprintOf(taken: Taken): Fingerprint {
  if (taken.fingerprint) return taken.fingerprint
  const words = taken.text.toLowerCase().match(WORDS) ?? []
  const runs = new Set(words.slice(2).map((word, i) => `${words[i]} ${words[i + 1]} ${word}`))
  const numbers = words.filter((word) => /\d/.test(word)).join(' ')
  taken.fingerprint = { runs, numbers }
  return taken.fingerprint
}
