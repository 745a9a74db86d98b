import { AppError } from '../../errors.ts'
import type { ChunkIndex, IndexQuery } from '../../indexes/chunk-index.ts'
import type { QueryTerms } from '../../indexes/term-batch.ts'
import type { Hit, QueryRequest } from '../../schemas/query.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import { narrowSearch } from './filter-scope.ts'
import { lexicalOnly, rankByMeaning, type SearchByMeaning } from './fuse.ts'
import { hydrateChunks, toHit } from './hydrate.ts'
import { LEAST_RERANKED, type Reranking, rerank } from './rerank.ts'

/** Asked for beyond top-k, for matches that turn out to be deleted, not yet committed, or duplicates. */
const SPARE_MATCHES = 16
/** Candidates of each stage that are fused, at least: a chunk that is good for one may be best for both. */
const LEAST_FUSED = 100
/** How much deeper each further look goes, and where looking ends. */
const DEEPER = 4
const MAX_MATCHES = 4_000
/** UTF-16 code units of a query that are analysed; a question is shorter, a pasted file need not be read whole. */
const MAX_QUERY = 10_000

/** The vector of a question, on its way; nothing where there is none. */
type Embedded = Promise<Float32Array<ArrayBuffer> | undefined>

interface Question extends Pick<Search, 'filter'> {
  terms: QueryTerms
  embedded: Embedded
}

interface Dependencies {
  index: Pick<ChunkIndex, 'search' | 'filters'>
  store: Pick<DocumentStore, 'readChunks' | 'matchingKeys'>
  analyseQuery: (text: string) => QueryTerms
  /** Absent where search goes by words alone. */
  meaning?: SearchByMeaning | undefined
  /** Absent where hits stay in the order of the search. */
  reranking?: Pick<Reranking, 'scores'> | undefined
}

export interface Search extends Pick<QueryRequest, 'query' | 'topK' | 'filter'> {
  /** Tells the score of each stage with each hit. */
  explain?: boolean | undefined
}

interface Found {
  /** Best first; each chunk once, or nearly the same ones, however many documents hold it. */
  hits: Hit[]
  /** True where the search should have gone by meaning, or its hits been reranked, but the model did not answer. */
  degraded: boolean
}

export interface Retrieval {
  /** The best chunks for a question. */
  search(query: Search, signal?: AbortSignal): Promise<Found>
}

export function createRetrieval(dependencies: Dependencies): Retrieval {
  const { index, store, analyseQuery, meaning, reranking } = dependencies
  const least = meaning ? LEAST_FUSED : 0

  const look = async (query: IndexQuery, embedded: Embedded, signal?: AbortSignal) => {
    if (query.only?.length === 0) return { candidates: [], exhausted: true }
    // The words need not wait for the embedder, which may be far away.
    const [lexical, vector] = await Promise.all([index.search(query, signal), embedded])
    const noMoreWords = lexical.length < query.limit
    if (!vector || !meaning) return { candidates: lexicalOnly(lexical), exhausted: noMoreWords }
    const question = { vector, limit: query.limit, only: query.only, filter: query.filter }
    const { candidates, exhausted } = await rankByMeaning(meaning, lexical, question, signal)
    return { candidates, exhausted: noMoreWords && exhausted }
  }

  /** The first `wanted` chunks of the search's own order. */
  const find = async (
    { terms, filter, embedded }: Question,
    wanted: number,
    signal?: AbortSignal,
  ) => {
    const narrowing = narrowSearch({ index, store }, filter, signal)
    let among = await narrowing.begin()
    let limit = Math.max(wanted + SPARE_MATCHES, least)
    for (;;) {
      const { candidates, exhausted } = await look({ terms, ...among, limit }, embedded, signal)
      const { found, isStale } = await hydrateChunks(store, candidates, wanted)
      const isShort = exhausted && found.length < wanted
      const renewed = await narrowing.renew({ among, isStale, isShort })
      if (renewed) among = renewed
      else if (found.length === wanted || exhausted || limit >= MAX_MATCHES) return found
      else limit = Math.min(limit * DEEPER, MAX_MATCHES)
    }
  }

  return {
    async search({ query, topK, filter, explain = false }, signal) {
      const text = query.slice(0, MAX_QUERY)
      const terms = analyseQuery(text)
      const embedded = Promise.resolve(meaning?.embed(text, signal))
      // Nobody waits for it where the filter fails first.
      embedded.catch(() => undefined)
      const wanted = reranking ? Math.max(topK, LEAST_RERANKED) : topK
      const found = await find({ terms, filter, embedded }, wanted, signal)
      const lacksMeaning = meaning !== undefined && (await embedded) === undefined
      const reranked = await rerank(reranking, text, found, signal)
      return {
        hits: (reranked ?? found).slice(0, topK).map((chunk) => toHit(chunk, explain)),
        degraded: lacksMeaning || reranked === undefined,
      }
    },
  }
}

const RETRY_AFTER_SECONDS = 5

/** The same retrieval, refusing with `index_not_ready` while the index lacks the words of chunks: half an answer would look like a whole one. */
export function onceReady(
  retrieval: Retrieval,
  progress: () => { state: string; done: number; total: number },
): Retrieval {
  return {
    async search(query, signal) {
      const { state, done, total } = progress()
      if (state !== 'rebuilding') return retrieval.search(query, signal)
      const message = `The search index is being rebuilt: ${done} of ${total} chunks done`
      throw new AppError('index_not_ready', message, { retryAfter: RETRY_AFTER_SECONDS })
    },
  }
}

/** The same retrieval, telling how long each search took, in milliseconds. */
export function observeSearches(
  retrieval: Retrieval,
  ended: (milliseconds: number) => void,
): Retrieval {
  return {
    async search(query, signal) {
      const started = performance.now()
      const found = await retrieval.search(query, signal)
      ended(performance.now() - started)
      return found
    },
  }
}
