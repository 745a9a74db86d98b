import { z } from 'zod'

export const Sparse = z.object({ indices: z.array(z.int()), values: z.array(z.number()) })
export type Sparse = z.output<typeof Sparse>

/** The sparse vectors of a shard, by term. */
export interface FakePostings {
  add(id: number, vector: Sparse): void
  remove(id: number): void
  /** Of every point that shares a term with the query; weighed as `modifier: idf` does it: https://qdrant.tech/documentation/concepts/indexing/#idf-modifier */
  score(query: Sparse): Map<number, number>
}

export function createFakePostings(isWeighed: boolean): FakePostings {
  const vectors = new Map<number, Sparse>()
  const postings = new Map<number, Map<number, number>>()

  return {
    add(id, vector) {
      // One without terms counts as none: seen in Qdrant's own engine.
      if (vector.indices.length === 0) return
      vectors.set(id, vector)
      vector.indices.forEach((term, i) => {
        const holders = postings.get(term) ?? new Map<number, number>()
        postings.set(term, holders.set(id, vector.values[i] ?? 0))
      })
    },
    remove(id) {
      for (const term of vectors.get(id)?.indices ?? []) postings.get(term)?.delete(id)
      vectors.delete(id)
    },
    score({ indices, values }) {
      const scores = new Map<number, number>()
      indices.forEach((term, i) => {
        const holders = postings.get(term) ?? new Map<number, number>()
        const measured = Math.log(1 + (vectors.size - holders.size + 0.5) / (holders.size + 0.5))
        const idf = isWeighed ? measured : 1
        for (const [id, weight] of holders) {
          scores.set(id, (scores.get(id) ?? 0) + weight * idf * (values[i] ?? 0))
        }
      })
      return scores
    },
  }
}
