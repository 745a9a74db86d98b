import type { Analyser } from '../../indexes/analyser/analyser.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

/** Chunks that are looked at, spread evenly over all there are. */
const SAMPLE = 2_000
/** Chunks read at a time. */
const BATCH = 500
/** Taken where there are too few chunks to tell: the mean of 22,000 chunks of English documentation. */
const USUAL_LENGTH = 167
const FEWEST = 100

interface Dependencies {
  store: Pick<DocumentStore, 'chunkKeys' | 'readChunks'>
  analyser: Pick<Analyser, 'batch'>
}

/** About how many terms a chunk has: what an index that freezes its mean length begins with. */
export async function measureLength({ store, analyser }: Dependencies): Promise<number> {
  const keys = await store.chunkKeys()
  if (keys.length < FEWEST) return USUAL_LENGTH
  const step = Math.max(1, Math.floor(keys.length / SAMPLE))
  const sample = Array.from(keys).filter((_, place) => place % step === 0)
  let chunks = 0
  let terms = 0
  for (let from = 0; from < sample.length; from += BATCH) {
    const { lengths } = analyser.batch(await store.readChunks(sample.slice(from, from + BATCH)))
    chunks += lengths.length
    terms += lengths.reduce((sum, length) => sum + length, 0)
  }
  return chunks > 0 && terms > 0 ? terms / chunks : USUAL_LENGTH
}
