/**
 * The terms of many chunks in columns, so that a batch crosses threads without copying.
 * Chunk `i` owns `terms[offsets[i] … offsets[i + 1])` and the counts beside them; its terms are ascending
 * and distinct.
 */
export interface TermBatch {
  /** How many chunks. */
  size: number
  /** Weighted length of each chunk in terms, as BM25 counts it. */
  lengths: Uint32Array<ArrayBuffer>
  /** `size + 1` positions into `terms`. */
  offsets: Uint32Array<ArrayBuffer>
  /** 32-bit hashes of analysed terms. */
  terms: Uint32Array<ArrayBuffer>
  /** Weighted occurrences of each term, at most 255. */
  counts: Uint8Array<ArrayBuffer>
}

/** One batch with the chunks of all, in order. */
export function joinTermBatches(batches: readonly TermBatch[]): TermBatch {
  const [only] = batches
  if (only && batches.length === 1) return only
  const size = batches.reduce((sum, batch) => sum + batch.size, 0)
  const postings = batches.reduce((sum, { terms }) => sum + terms.length, 0)
  const all: TermBatch = {
    size,
    lengths: new Uint32Array(size),
    offsets: new Uint32Array(size + 1),
    terms: new Uint32Array(postings),
    counts: new Uint8Array(postings),
  }
  let chunk = 0
  let start = 0
  for (const { lengths, offsets, terms, counts } of batches) {
    all.lengths.set(lengths, chunk)
    all.terms.set(terms, start)
    all.counts.set(counts, start)
    for (const end of offsets.subarray(1)) all.offsets[++chunk] = start + end
    start += terms.length
  }
  return all
}

/** The distinct terms of a query, with how often each occurs in it. */
export interface QueryTerms {
  terms: Uint32Array<ArrayBuffer>
  counts: Float32Array<ArrayBuffer>
  /** What the counts are shares of, if not of their sum. */
  total?: number
}

/** The share of a query's terms, by their counts, of which `has` is true; 1 if it is true of more than their total. */
export function shareOfTerms(
  { terms, counts, total = sumOf(counts) }: QueryTerms,
  has: (term: number, place: number) => boolean,
): number {
  let shared = 0
  for (const [place, term] of terms.entries()) if (has(term, place)) shared += counts[place] ?? 0
  return total > 0 ? Math.min(1, shared / total) : 0
}

/** Combines the terms of all queries; the counts of all but the first query are multiplied by `weight`. */
export function mixQueryTerms(queries: readonly QueryTerms[], weight: number): QueryTerms {
  const [only] = queries
  if (only && queries.length === 1) return only
  const mixed = new Map<number, number>()
  for (const [place, { terms, counts }] of queries.entries()) {
    terms.forEach((term, i) => {
      mixed.set(term, (mixed.get(term) ?? 0) + (counts[i] ?? 0) * (place ? weight : 1))
    })
  }
  return { terms: Uint32Array.from(mixed.keys()), counts: Float32Array.from(mixed.values()) }
}

/**
 * The terms of a query with those of another spelling, whose counts are multiplied by `weight`, beside what was typed.
 * Scores still are shares of the latter.
 */
export function addTerms(typed: QueryTerms, spelt: QueryTerms, weight: number): QueryTerms {
  const counts = new Map(Array.from(typed.terms, (term, i) => [term, typed.counts[i] ?? 0]))
  for (const [i, term] of spelt.terms.entries()) {
    counts.set(term, Math.max(counts.get(term) ?? 0, (spelt.counts[i] ?? 0) * weight))
  }
  if (counts.size === typed.terms.length) return typed
  return {
    terms: Uint32Array.from(counts.keys()),
    counts: Float32Array.from(counts.values()),
    total: typed.total ?? sumOf(typed.counts),
  }
}

const sumOf = (counts: Float32Array) => counts.reduce((sum, count) => sum + count, 0)

/** BM25's term saturation and length weight: both measured, see docs/internals/retrieval.md. */
export const K1 = 1.5
export const B = 0.75

/** BM25's length normalisation, `K1 × (1 - B + B × length ÷ average)`, as a linear function of the length. */
export interface LengthNorm {
  base: number
  slope: number
}

/** The length normalisation for `chunks` chunks with a total of `length` terms. */
export function lengthNorm(chunks: number, length: number): LengthNorm {
  return { base: K1 * (1 - B), slope: length > 0 ? (K1 * B * chunks) / length : 0 }
}

/** BM25 weight, without the idf, of a term that occurs `count` times in a chunk of this length. */
export function termWeight(count: number, length: number, { base, slope }: LengthNorm): number {
  return (count * (K1 + 1)) / (count + base + slope * length)
}

/** The idf of a term that `holding` of `chunks` contain: Robertson–Spärck Jones, kept positive as in Lucene. */
export function inverseFrequency(chunks: number, holding: number): number {
  return Math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))
}
