/** Saturation of repeated terms, and weight of a chunk's length: both measured, see docs/retrieval-internals.md. */
export const K1 = 1.5
export const B = 0.75

/** How much a term tells that `holding` of `chunks` hold: Robertson–Spärck Jones, kept above zero as Lucene does. */
export function inverseFrequency(chunks: number, holding: number): number {
  return Math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))
}
