import type { AppError } from '../../errors.ts'
import type { ChunkIndex, HybridRanking } from '../../indexes/chunk-index.ts'
import { mixQueryTerms, type QueryTerms } from '../../indexes/term-batch.ts'
import { inSpan } from '../../lib/tracing.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { Hit, QueryRequest } from '../../schemas/query.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { Embedding } from '../embedding/embedding.ts'
import { createFilterScope, type Scope } from './filter-scope.ts'
import { type HybridSearch, lexicalOnly } from './hybrid-search.ts'
import { hydrateChunks, toHit } from './hydrate.ts'
import { MIN_RERANKED, type Reranking, rerank } from './rerank.ts'

/** Extra matches requested beyond top-k, since some turn out to be deleted, uncommitted or duplicates. */
const SPARE_MATCHES = 16
/** Minimum number of candidates per stage that are fused: a chunk low in each list may be best overall. */
const MIN_FUSED = 100
/** Factor by which the limit grows with each deeper search, and the limit at which searching stops. */
const DEEPER = 4
const MAX_MATCHES = 4_000
/** Maximum UTF-16 code units of a query that are analysed: ample for a question, and cuts off a pasted file. */
const MAX_QUERY = 10_000
/** Weight of words from earlier questions: measured, see docs/retrieval-quality.md. */
const CONTEXT_WEIGHT = 0.5

/** Stands in for the question's vector if no chunk has a vector to compare it with. */
export const NOTHING_TO_FIND = new Float32Array(0)

interface Dependencies {
  index: Pick<ChunkIndex, 'search' | 'filters'>
  store: Pick<DocumentStore, 'readChunks' | 'matchingKeys'>
  analyseQuery: (text: string) => QueryTerms
  /** Absent if search is lexical only. */
  hybrid?: { search: HybridSearch; embed: Embedding['query'] } | undefined
  /** Absent if hits are not reranked. */
  reranking?: Pick<Reranking, 'scores'> | undefined
}

export interface Search extends Pick<QueryRequest, 'query' | 'topK' | 'filter' | 'mode'> {
  /** Earlier questions, the latest first, if the query cannot stand alone. */
  context?: readonly string[] | undefined
  /** Adds the score of each stage to each hit. */
  explain?: boolean | undefined
}

interface Answer {
  /** Best first. Identical or nearly identical chunks appear once, however many documents contain them. */
  hits: Hit[]
  /** True if dense search or reranking was due but could not be done, e.g. because its model did not answer. */
  degraded: boolean
}

export interface Retrieval {
  /**
   * Returns the best chunks for a question. Throws AppError `invalid_request` if `mode` asks for dense search and
   * there is no embedding model.
   */
  search(query: Search, signal?: AbortSignal): Promise<Answer>
}

interface Question extends Pick<Search, 'filter' | 'mode'> {
  terms: QueryTerms
  /** Its vector, still being computed; resolves to undefined if there is none. */
  embedded: Promise<Float32Array<ArrayBuffer> | undefined>
}

/** The pipeline from question to hits: filter, lexical and dense search in parallel, fuse, hydrate, rerank. */
export function createRetrieval(dependencies: Dependencies): Retrieval {
  const { index, store, analyseQuery, hybrid, reranking } = dependencies
  const minLimit = hybrid ? MIN_FUSED : 0

  const rank = async (
    question: Question,
    among: Scope & { limit: number },
    signal?: AbortSignal,
  ): Promise<HybridRanking> => {
    if (among.only?.length === 0) return { candidates: [], exhausted: true }
    const { terms, mode, embedded } = question
    if (!hybrid || mode === 'lexical')
      return lexicalOnly(await index.search({ terms, ...among }, signal), among.limit)
    const ranking = await hybrid.search({ terms, mode, vector: embedded, ...among }, signal)
    if (ranking.lacksVectors) question.embedded = Promise.resolve(undefined)
    return ranking
  }

  /** Returns the first `wanted` chunks of the ranking; searches deeper, or again, if it finds fewer. */
  const retrieve = async (question: Question, wanted: number, signal?: AbortSignal) => {
    const filter = createFilterScope({ index, store }, question.filter, signal)
    let scope = await filter.resolve()
    let limit = Math.max(wanted + SPARE_MATCHES, minLimit)
    for (;;) {
      const { candidates, exhausted } = await rank(question, { ...scope, limit }, signal)
      const { found, missing } = await hydrateChunks(store, candidates, wanted, scope.filter)
      const isShort = exhausted && found.length < wanted
      const changed = await filter.resolveAgain({ scope, missing, isShort })
      if (changed) scope = changed
      else if (found.length === wanted || exhausted || limit >= MAX_MATCHES) return found
      else limit = Math.min(limit * DEEPER, MAX_MATCHES)
    }
  }

  return {
    async search({ query, context = [], topK, filter, mode, explain = false }, signal) {
      if (!hybrid && mode !== undefined && mode !== 'lexical') throw noVectors(mode)
      if (topK === 0) return { hits: [], degraded: false }
      const asked = [query, ...context].map((each) => each.slice(0, MAX_QUERY))
      const text = asked.toReversed().join('\n')
      const terms = mixQueryTerms(asked.map(analyseQuery), CONTEXT_WEIGHT)
      const dense = mode === 'lexical' ? undefined : hybrid
      const embedded = Promise.resolve(dense?.embed(text, signal))
      // Avoids an unhandled rejection: nothing awaits this promise if the filter fails first.
      embedded.catch(() => undefined)
      const wanted = reranking ? Math.max(topK, MIN_RERANKED) : topK
      const question = { terms, filter, mode, embedded }
      const found = await retrieve(question, wanted, signal)
      const reranked = await rerank(reranking, text, found, signal)
      const lacksVector = dense !== undefined && (await question.embedded) === undefined
      return {
        hits: (reranked ?? found).slice(0, topK).map((chunk) => toHit(chunk, explain)),
        degraded: lacksVector || reranked === undefined,
      }
    },
  }
}

function noVectors(mode: string): AppError {
  const message = `must be lexical: this server has no embedding model, which ${mode} needs (EMBEDDING_MODEL)`
  return refusal('mode', message)
}

const RETRIEVAL = { attributes: { 'gen_ai.operation.name': 'retrieval' } }

/**
 * Wraps a retrieval so that each search first calls `checkReady`, whose errors it throws (a partial answer would look
 * like a complete one). Reports how long each search took to `ended`, in milliseconds, whether or not it succeeded.
 */
export function watchSearches(
  retrieval: Retrieval,
  checkReady: () => Promise<void>,
  ended: (milliseconds: number) => void,
): Retrieval {
  return {
    async search(query, signal) {
      await checkReady()
      const started = performance.now()
      try {
        return await inSpan('retrieval', RETRIEVAL, () => retrieval.search(query, signal))
      } finally {
        ended(performance.now() - started)
      }
    },
  }
}
