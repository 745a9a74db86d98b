import { createHash } from 'node:crypto'
import { tokenise } from '../../lib/text/tokenise.ts'

/** Maximum words kept; if there are more, at least the rarest half of them is dropped. */
const MAX_TERMS = 200_000

/** Counts the words of texts, in bounded memory. */
export function createTermStatistics(isStopWord: (word: string) => boolean) {
  const counts = new Map<string, { occurrences: number; documents: number }>()

  return {
    add(text: string): void {
      const own = new Map<string, number>()
      for (const [word] of text.toLowerCase().matchAll(/\p{L}[\p{L}\p{M}\p{N}'’-]*/gu)) {
        if (word.length > 2 && !isStopWord(word)) own.set(word, (own.get(word) ?? 0) + 1)
      }
      for (const [term, occurrences] of own) {
        const known = counts.get(term) ?? { occurrences: 0, documents: 0 }
        known.occurrences += occurrences
        known.documents += 1
        counts.set(term, known)
      }
      if (counts.size > MAX_TERMS) forgetRarest(counts)
    },
    top(limit: number) {
      return [...counts]
        .map(([term, count]) => ({ term, ...count }))
        .toSorted((a, b) => b.occurrences - a.occurrences || (a.term < b.term ? -1 : 1))
        .slice(0, limit)
    },
  }
}

/** Drops at least half of the words, so that this is not necessary again for each following text. */
function forgetRarest(counts: Map<string, { occurrences: number }>): void {
  for (let rare = 1; counts.size > MAX_TERMS / 2; rare *= 2) {
    for (const [term, { occurrences }] of counts) if (occurrences <= rare) counts.delete(term)
  }
}

/** Finds texts that are equal except for case, white space and punctuation. */
export function createDuplicates() {
  const byDigest = new Map<string, string[]>()
  return {
    add(id: string, text: string): void {
      const words = createHash('sha256')
      tokenise(
        text,
        (part) => part.toLowerCase(),
        (lower, start, end) => words.update(`${lower.slice(start, end)} `),
      )
      const digest = words.digest('base64')
      const same = byDigest.get(digest)
      if (same) same.push(id)
      else byDigest.set(digest, [id])
    },
    /** Groups of two or more documents with the same words. */
    groups: (): string[][] => [...byDigest.values()].filter((ids) => ids.length > 1),
  }
}
