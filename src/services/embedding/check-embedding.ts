import { type Embedder, EmbedderError } from '../../models/embedder.ts'
import type { DocumentStore } from '../../stores/document-store.ts'

/** Nothing is embedded anew by surprise: it takes time and may cost money. */
export const REMEDY =
  'run npm run reindex with the server stopped (or let the server do it: see EMBEDDING_MODEL_NEXT)'

/**
 * The dimension that new vectors must have, if it is settled. Throws an Error that names the remedy where
 * the vectors that are kept are not those of `model`, or do not cover every chunk.
 */
export async function checkEmbedding(
  store: Pick<DocumentStore, 'embedding' | 'counts' | 'vectorKeys'>,
  model: string,
): Promise<number | undefined> {
  const [kept, { chunks }] = await Promise.all([store.embedding(), store.counts()])
  const vectors = (await store.vectorKeys()).length
  if (chunks === 0) return undefined
  if (kept && vectors > 0 && kept.model !== model) {
    throw new Error(
      `The documents were embedded with "${kept.model}", but EMBEDDING_MODEL is "${model}": set it back, or ${REMEDY}`,
    )
  }
  if (vectors < chunks) {
    throw new Error(
      `${chunks - vectors} of ${chunks} passages have no vector of "${model}" yet: unset EMBEDDING_MODEL, or ${REMEDY}`,
    )
  }
  return kept?.dimension
}

/** How long a start waits for an embedder; one that is down by then is found out later. */
const START_MILLISECONDS = 5_000

/** Throws an Error that names the remedy where the embedder gives vectors of another dimension than those kept. */
export async function checkDimension(embedder: Embedder): Promise<void> {
  try {
    await embedder.embedQuery('dimension', AbortSignal.timeout(START_MILLISECONDS))
  } catch (error) {
    if (error instanceof EmbedderError && error.kind === 'changed') throw new Error(error.message)
  }
}
