/** Chunks asked for per query: several may belong to one document, and documents are what is judged. */
export const TOP_K = 50
/** How many results count. */
export const DEPTH = 10

export interface Measures {
  /** Normalised discounted cumulative gain, https://dl.acm.org/doi/10.1145/582415.582418. */
  ndcg: number
  /** The part of the relevant documents that was found. */
  recall: number
  /** One over the rank of the first relevant document. */
  mrr: number
}

interface Judgement {
  /** Relevance by document id, above 0. */
  relevant: ReadonlyMap<string, number>
  /** Count relevance as it was graded; otherwise every relevant document counts the same. */
  graded: boolean
}

/** Measures at ten of one ranking, best document first, no document twice. */
export function measure(ranking: readonly string[], { relevant, graded }: Judgement): Measures {
  const top = ranking.slice(0, DEPTH)
  const gainOf = (grade: number | undefined) => (graded ? (grade ?? 0) : grade ? 1 : 0)
  const ideal = [...relevant.values()].map(gainOf).sort((a, b) => b - a)
  const relevantHits = top.filter((id) => relevant.has(id))
  const first = top.findIndex((id) => relevant.has(id))
  return {
    ndcg: discounted(top.map((id) => gainOf(relevant.get(id)))) / discounted(ideal.slice(0, DEPTH)),
    recall: relevantHits.length / relevant.size,
    mrr: first === -1 ? 0 : 1 / (first + 1),
  }
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

/** The value below which `share` of the numbers lie. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0)
}
