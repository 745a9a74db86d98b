import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createAnalyser } from '../indexes/analyser/analyser.ts'
import type { ChunkIndex } from '../indexes/chunk-index.ts'
import type { Embedding } from '../services/embedding/embedding.ts'
import type { Reconciliation } from '../services/ingestion/index-sync.ts'
import type { Metrics } from '../services/ops/metrics.ts'
import { withFeedback } from '../services/retrieval/feedback.ts'
import { createReranking } from '../services/retrieval/rerank.ts'
import { createRetrieval, watchSearches } from '../services/retrieval/search.ts'
import type { DocumentStore } from '../stores/document-store.ts'
import { createReranker } from './models.ts'

interface Knowledge {
  store: DocumentStore
  index: ChunkIndex
  embedding: Embedding | undefined
  reconciliation: Pick<Reconciliation, 'progress' | 'check' | 'checkVectors'>
  metrics: Pick<Metrics, 'searchEnded'>
}

/** Search as it is configured: by words, by meaning where there is an embedder, reranked where there is a model for it. */
export async function createSearch(config: Config, knowledge: Knowledge, log: FastifyBaseLogger) {
  const { store, index, embedding, reconciliation, metrics } = knowledge
  const analyser = createAnalyser(config.SEARCH_LANGUAGE)
  const reranker = createReranker(config, log)
  const reranking = reranker && createReranking({ reranker, log })
  const retrieval = createRetrieval({
    index: {
      ...withFeedback({ index, store, analyser, hybrid: embedding !== undefined }),
      filters: index.filters,
    },
    ...{ store, analyseQuery: analyser.query, reranking },
    dense: embedding && {
      // Half of the vectors would find half of the chunks, and nobody would know.
      embed: async (text, signal) =>
        reconciliation.progress().state === 'ready' ? embedding.query(text, signal) : undefined,
      nearest: index.nearest,
      readVectors: store.readVectors,
    },
  })
  return {
    retrieval: watchSearches(retrieval, reconciliation.check, metrics.searchEnded),
    reranker: reranker && { name: reranker.name, check: reranking?.check },
    checkEmbedder:
      embedding &&
      (async (signal: AbortSignal) => {
        await reconciliation.checkVectors()
        await embedding.check(signal)
      }),
  }
}
