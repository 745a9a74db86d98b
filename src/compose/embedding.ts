import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { checkDimension, checkEmbedding } from '../services/embedding/check-embedding.ts'
import { createEmbedding } from '../services/embedding/create-embedding.ts'
import { createStaging, type Staging } from '../services/embedding/stage-vectors.ts'
import { swapStaged } from '../services/embedding/swap-staged.ts'
import type { DocumentStore, VectorReplacement } from '../stores/document-store.ts'
import { createEmbedder, createNextEmbedder } from './models.ts'

/** For the passages that lack a vector of the new model when the server starts with it. */
const SWAP_MILLISECONDS = 120_000

interface EmbeddingStore extends DocumentStore {
  readonly replacement: VectorReplacement
}

/** Throws where the vectors that are kept are not of the model that is configured, nor made already; the store is closed then. */
export async function openEmbedding(config: Config, store: EmbeddingStore, log: FastifyBaseLogger) {
  const { EMBEDDING_MODEL: model } = config
  if (model === undefined) return undefined
  try {
    await swapStaged(
      {
        ...{ store, replacement: store.replacement, log },
        createEmbedder: () => createEmbedder(config, model, undefined, log),
      },
      model,
      AbortSignal.timeout(SWAP_MILLISECONDS),
    )
    const dimension = await checkEmbedding(store, model)
    const embedder = await createEmbedder(config, model, dimension, log)
    await checkDimension(embedder)
    return createEmbedding({ embedder, log })
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Makes the vectors of the model to change to, if there is one. */
export async function openStaging(
  config: Config,
  store: EmbeddingStore,
  log: FastifyBaseLogger,
): Promise<Staging | undefined> {
  const embedder = await createNextEmbedder(config, log)
  return embedder && createStaging({ store, replacement: store.replacement, embedder, log })
}
