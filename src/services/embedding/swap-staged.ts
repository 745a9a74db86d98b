import type { Embedder } from '../../models/embedder.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import { type Replacing, replaceVectors } from './replace-vectors.ts'

/** Passages that may still lack a vector of the new model at the start, which waits for them. */
const MOST_EMBEDDED_AT_START = 1_024

interface Dependencies extends Omit<Replacing, 'embedder' | 'progress' | 'store'> {
  store: Pick<DocumentStore, 'counts' | 'embedding'>
  createEmbedder: () => Promise<Embedder>
  log: { info(fields: object, message: string): void }
}

/**
 * Puts vectors of `model` that were made beside those in use in their place, if there are as good as all:
 * the last few, of documents that came shortly before the stop, are made here. Leaves everything as it is
 * where the vectors in use are of `model` already, or too many lack.
 */
export async function swapStaged(
  { store, replacement, createEmbedder, log }: Dependencies,
  model: string,
  signal: AbortSignal,
): Promise<void> {
  const [kept, begun, { chunks }] = await Promise.all([
    store.embedding(),
    replacement.begun(),
    store.counts(),
  ])
  if (kept?.model === model || begun?.model !== model) return
  const missing = chunks - begun.vectors
  if (missing > MOST_EMBEDDED_AT_START) return
  log.info({ model, missing }, 'the vectors of the new model take the place of the old ones')
  const progress = () => undefined
  await replaceVectors({ store, replacement, embedder: await createEmbedder(), progress }, signal)
}
