import { tokenise } from '../../lib/tokenise.ts'

/** Two texts are nearly the same when they share this part of all their runs of words: measured, see docs/retrieval-quality.md. */
const MIN_RESEMBLANCE = 0.9
/** In a shorter text every word counts: `Door 4 is open` and `Door 4 is shut` say different things. */
const MIN_RUNS = 20

/** What is compared of two texts: hashes, since they are made for every hit while somebody waits. */
interface Fingerprint {
  /** Of every three words in a row. */
  runs: ReadonlySet<number>
  /** Of all words with a digit in them, in their order. */
  numbers: number
}

/**
 * Distinguishes texts that say something new from those that repeat what was taken, word for word or nearly so.
 * Near duplicates are found by the runs of words that two texts share (Broder's resemblance,
 * https://doi.org/10.1109/SEQUEN.1997.666900). All who hold a run are listed with it, so that the work grows
 * with the text and its likes, not with all that was taken. Texts with other numbers in them are never the
 * same: a row, a version and a date differ from the next in little else.
 */
export function createDistinctTexts() {
  const exact = new Set<string>()
  const holders = new Map<number, Fingerprint[]>()

  const isKnown = ({ runs, numbers }: Fingerprint) => {
    const shared = new Map<Fingerprint, number>()
    for (const run of runs) {
      for (const holder of holders.get(run) ?? []) shared.set(holder, (shared.get(holder) ?? 0) + 1)
    }
    return shared.entries().some(([other, count]) => {
      const resemblance = count / (other.runs.size + runs.size - count)
      return other.numbers === numbers && resemblance >= MIN_RESEMBLANCE
    })
  }

  const remember = (fingerprint: Fingerprint) => {
    for (const run of fingerprint.runs) {
      const others = holders.get(run)
      if (others) others.push(fingerprint)
      else holders.set(run, [fingerprint])
    }
  }

  return {
    /** Takes a text, unless it nearly is one that was taken before; answers whether it did. */
    take(text: string): boolean {
      if (exact.has(text)) return false
      const fingerprint = fingerprintOf(text)
      if (fingerprint.runs.size >= MIN_RUNS) {
        if (isKnown(fingerprint)) return false
        remember(fingerprint)
      }
      exact.add(text)
      return true
    },
  }
}

/** Neither case nor what stands between words makes a difference. */
function fingerprintOf(text: string): Fingerprint {
  const runs = new Set<number>()
  let numbers = OFFSET
  let [before, last, words] = [0, 0, 0]
  tokenise(
    text,
    (part) => part.toLowerCase(),
    (lower, start, end, also) => {
      if (also) return
      let word = OFFSET
      let hasDigit = false
      for (let i = start; i < end; i++) {
        const unit = lower.charCodeAt(i)
        word = mix(word, unit)
        hasDigit ||= unit >= ZERO && unit <= NINE
      }
      if (hasDigit) numbers = mix(numbers, word)
      if (++words > 2) runs.add(mix(mix(before, last), word))
      before = last
      last = word
    },
  )
  return { runs, numbers }
}

const [ZERO, NINE] = [0x30, 0x39]

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, PRIME)
}
