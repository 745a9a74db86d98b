import type { Analyser } from '../../indexes/analyser.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import type { StoredChunk } from '../../stores/document-store.ts'

/** Two generations of this many chunks are kept; one takes about two kilobytes. */
const KEPT_CHUNKS = 4_096

/**
 * The terms of single chunks, the latest ones remembered: to analyse a passage takes some fifty
 * microseconds of the event loop, and good passages are found again and again. A chunk never changes
 * under its key, so nothing is ever out of date.
 */
export function rememberTerms(
  analyser: Pick<Analyser, 'batch'>,
): (chunk: StoredChunk) => TermBatch {
  let young = new Map<number, TermBatch>()
  let old = new Map<number, TermBatch>()

  return (chunk) => {
    const known = young.get(chunk.key)
    if (known) return known
    const terms = old.get(chunk.key) ?? analyser.batch([chunk])
    if (young.size >= KEPT_CHUNKS) {
      old = young
      young = new Map()
    }
    young.set(chunk.key, terms)
    return terms
  }
}
