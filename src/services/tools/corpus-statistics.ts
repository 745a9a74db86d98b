import { createHash } from 'node:crypto'
import { tokenise } from '../../lib/text/tokenise.ts'

/** Words that are kept; when there are more, the rarest half of them or more is forgotten. */
const MAX_TERMS = 200_000

/** Counts the words of texts, one after another, in bounded memory. */
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

/** Half of them at least, so that it need not be done again for each of the texts that follow. */
function forgetRarest(counts: Map<string, { occurrences: number }>): void {
  for (let rare = 1; counts.size > MAX_TERMS / 2; rare *= 2) {
    for (const [term, { occurrences }] of counts) if (occurrences <= rare) counts.delete(term)
  }
}

/** Texts count as the same where they differ in nothing but case, white space and punctuation. */
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
    /** Documents of the same words, two or more in each group. */
    groups: (): string[][] => [...byDigest.values()].filter((ids) => ids.length > 1),
  }
}
