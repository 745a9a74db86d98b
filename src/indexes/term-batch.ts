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
  /** Of the text of each chunk: the same for the same text. */
  digests: Uint32Array<ArrayBuffer>
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
  const joined: TermBatch = {
    size,
    lengths: new Uint32Array(size),
    digests: new Uint32Array(size),
    offsets: new Uint32Array(size + 1),
    terms: new Uint32Array(postings),
    counts: new Uint8Array(postings),
  }
  let chunk = 0
  let start = 0
  for (const { lengths, digests, offsets, terms, counts } of batches) {
    joined.lengths.set(lengths, chunk)
    joined.digests.set(digests, chunk)
    joined.terms.set(terms, start)
    joined.counts.set(counts, start)
    for (const end of offsets.subarray(1)) joined.offsets[++chunk] = start + end
    start += terms.length
  }
  return joined
}

/** One chunk of a batch, in arrays of its own. */
export function chunkOf(batch: TermBatch, chunk: number): TermBatch {
  const { lengths, digests, offsets, terms, counts } = batch
  const [from = 0, to = 0] = offsets.subarray(chunk, chunk + 2)
  return {
    size: 1,
    lengths: lengths.slice(chunk, chunk + 1),
    digests: digests.slice(chunk, chunk + 1),
    offsets: Uint32Array.of(0, to - from),
    terms: terms.slice(from, to),
    counts: counts.slice(from, to),
  }
}

/** The terms of a query: distinct, with how often each was asked for. */
export interface QueryTerms {
  terms: Uint32Array<ArrayBuffer>
  counts: Float32Array<ArrayBuffer>
}

/** All terms of the queries; those of all but the first count `weight` of their number. */
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

/** Of all chunks that the document store has, for an index that does not know them all. */
export interface CorpusStatistics {
  chunks(): number
  /** Of all chunks together, in terms. */
  length(): number
  /** How many chunks hold a term. */
  holding(term: number): number
}

/** Saturation of repeated terms, and weight of a chunk's length: both measured, see docs/retrieval-internals.md. */
export const K1 = 1.5
export const B = 0.75

/** The length part of BM25, `K1 × (1 - B + B × length ÷ average)`, as a line over the length. */
export interface LengthNorm {
  base: number
  slope: number
}

/** For so many chunks that together are `length` terms long. */
export function lengthNorm(chunks: number, length: number): LengthNorm {
  return { base: K1 * (1 - B), slope: length > 0 ? (K1 * B * chunks) / length : 0 }
}

/** What a term that occurs `count` times gives a chunk of this length, but for the term's idf. */
export function termWeight(count: number, length: number, { base, slope }: LengthNorm): number {
  return (count * (K1 + 1)) / (count + base + slope * length)
}

/** The idf of a term that `holding` of `chunks` hold: Robertson–Spärck Jones, kept above zero as Lucene does. */
export function inverseFrequency(chunks: number, holding: number): number {
  return Math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))
}
