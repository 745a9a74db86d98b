import type { TermBatch } from '../../indexes/term-batch.ts'

/** One batch with the entries of all, in order. */
export function joinTermBatches(batches: readonly TermBatch[]): TermBatch {
  const [only] = batches
  if (only && batches.length === 1) return only

  const size = sum(batches, (batch) => batch.size)
  const total = sum(batches, (batch) => batch.terms.length)
  const joined: TermBatch = {
    size,
    lengths: new Uint32Array(size),
    offsets: new Uint32Array(size + 1),
    terms: new Uint32Array(total),
    counts: new Uint8Array(total),
  }
  let entry = 0
  let position = 0
  for (const batch of batches) {
    joined.lengths.set(batch.lengths, entry)
    joined.terms.set(batch.terms, position)
    joined.counts.set(batch.counts, position)
    for (let index = 1; index <= batch.size; index++) {
      joined.offsets[entry + index] = position + (batch.offsets[index] ?? 0)
    }
    entry += batch.size
    position += batch.terms.length
  }
  return joined
}

function sum(batches: readonly TermBatch[], numberOf: (batch: TermBatch) => number): number {
  return batches.reduce((total, batch) => total + numberOf(batch), 0)
}
