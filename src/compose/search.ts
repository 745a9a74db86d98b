import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createAnalyser } from '../indexes/analyser.ts'
import type { ChunkIndex } from '../indexes/chunk-index.ts'
import type { Embedding } from '../services/embedding/create-embedding.ts'
import { createReranking } from '../services/reranking/create-reranking.ts'
import { createRetrieval } from '../services/retrieval/create-retrieval.ts'
import { observeSearches } from '../services/retrieval/observe-searches.ts'
import { onceReady } from '../services/retrieval/once-ready.ts'
import { withFeedback } from '../services/retrieval/with-feedback.ts'
import type { DocumentStore } from '../stores/document-store.ts'
import { createReranker } from './models.ts'

interface Parts {
  store: DocumentStore
  index: ChunkIndex
  embedding: Embedding | undefined
  progress: Parameters<typeof onceReady>[1]
  /** Told of each search, in milliseconds. */
  searchEnded: (milliseconds: number) => void
}

/** Search as it is configured: by words, by meaning where there is an embedder, reranked where there is a model for it. */
export async function createSearch(config: Config, parts: Parts, log: FastifyBaseLogger) {
  const { store, index, embedding, progress, searchEnded } = parts
  const analyser = createAnalyser(config.SEARCH_LANGUAGE)
  const reranker = await createReranker(config, log)
  const reranking = reranker && createReranking({ reranker, log })
  const retrieval = createRetrieval({
    index: withFeedback({ index, store, analyser }),
    ...{ store, analyseQuery: analyser.query, reranking },
    meaning: embedding && {
      embed: embedding.query,
      nearest: index.nearest,
      readVectors: store.readVectors,
    },
  })
  return {
    retrieval: onceReady(observeSearches(retrieval, searchEnded), progress),
    reranking,
    /** The model's name. */
    reranker: reranker?.name,
  }
}
