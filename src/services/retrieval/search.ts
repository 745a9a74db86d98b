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

/** Asked for beyond top-k, for matches that turn out to be deleted, not yet committed, or duplicates. */
const SPARE_MATCHES = 16
/** Candidates of each stage that are fused, at least: a chunk that is good for one may be best for both. */
const MIN_FUSED = 100
/** How much deeper each further look goes, and where looking ends. */
const DEEPER = 4
const MAX_MATCHES = 4_000
/** UTF-16 code units of a query that are analysed; a question is shorter, a pasted file need not be read whole. */
const MAX_QUERY = 10_000
/** What a word counts that was asked for before: measured, see docs/retrieval-quality.md. */
const CONTEXT_WEIGHT = 0.5

/** Instead of a question's vector, where no chunk has one that it could be compared with. */
export const NOTHING_TO_FIND = new Float32Array(0)

interface Dependencies {
  index: Pick<ChunkIndex, 'search' | 'filters'>
  store: Pick<DocumentStore, 'readChunks' | 'matchingKeys'>
  analyseQuery: (text: string) => QueryTerms
  /** Absent where search goes by words alone. */
  hybrid?: { search: HybridSearch; embed: Embedding['query'] } | undefined
  /** Absent where hits stay in the order of the search. */
  reranking?: Pick<Reranking, 'scores'> | undefined
}

export interface Search extends Pick<QueryRequest, 'query' | 'topK' | 'filter' | 'mode'> {
  /** What was asked before, the latest first, where the query cannot stand alone. */
  context?: readonly string[] | undefined
  /** Shows the score of each stage with each hit. */
  explain?: boolean | undefined
}

interface Answer {
  /** Best first; each chunk once, or nearly the same ones, however many documents hold it. */
  hits: Hit[]
  /** True where the search should have gone by meaning, or its hits been reranked, but the model did not answer. */
  degraded: boolean
}

export interface Retrieval {
  /** The best chunks for a question. Throws AppError `invalid_request` where it is to go by meaning and no model makes vectors. */
  search(query: Search, signal?: AbortSignal): Promise<Answer>
}

interface Question extends Pick<Search, 'filter' | 'mode'> {
  terms: QueryTerms
  /** Its vector, on the way; nothing where there is none. */
  embedded: Promise<Float32Array<ArrayBuffer> | undefined>
}

/** From a question to its hits: filter, lexical and dense search at the same time, fuse, hydrate, rerank. */
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

  /** The first `wanted` chunks of the ranking: looks deeper, or anew, where it finds fewer. */
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
      // Nobody waits for it where the filter fails first.
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
 * The same retrieval, which refuses as `checkReady` does (half an answer would look like a whole one) and says how
 * long each search took, in milliseconds, whether it succeeded or not.
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
