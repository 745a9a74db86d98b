import { fingerprint } from './fingerprint.ts'

/** Two texts are nearly the same when they share this part of all their runs of words: measured, see docs/retrieval-quality.md. */
const SAME_PART = 0.9
/** In a shorter text every word counts: `Door 4 is open` and `Door 4 is shut` say different things. */
const FEWEST_RUNS = 20

interface Known {
  runs: number
  numbers: number
}

/** Tells texts that say something new from those that repeat what was taken, word for word or nearly so. */
export interface DistinctTexts {
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
