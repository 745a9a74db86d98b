import type { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { inSpan } from '@agent-server/lib/tracing.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Meter } from '@agent-server/models'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import type { Correction, Hit, QueryRequest } from '@agent-server/schemas/query.ts'
import type { ChunkIndex, ChunkQuery } from '@agent-server/search'
import { addTerms, mixQueryTerms, type QueryTerms } from '@agent-server/search'
import type { DocumentStore } from '@agent-server/stores'
import type { Embedding } from './embedding.ts'
import { hydrateChunks, toHit } from './hydrate.ts'
import { favourNamed, namingOf } from './named-documents.ts'
import { spellPeriods } from './periods.ts'
import { scoresOf, type TermsOfChunk } from './relevance.ts'
import { MIN_RERANKED, type Reranking, rerank } from './rerank.ts'
import { correctTerms, correctText, type Spelling } from './spelling.ts'

/** Extra matches requested beyond top-k, since some turn out to be deleted, uncommitted or duplicates. */
const SPARE_MATCHES = 16
/** Minimum number of candidates per stage that are fused: a chunk low in each list may be best overall. */
const MIN_FUSED = 100
/** Factor by which the limit grows with each deeper search, and the limit at which searching stops. */
const DEEPER = 4
const MAX_MATCHES = 4_000
/** Maximum UTF-16 code units of a query that are analysed: ample for a question, and cuts off a pasted file. */
const MAX_QUERY = 10_000
/** Weight of words from earlier questions: measured, see docs/internals/retrieval-quality.md. */
const CONTEXT_WEIGHT = 0.5
/** One word that was typed becomes two: `FY18` becomes `FY 2018`. */
const PERIOD_WEIGHT = 0.5

/** How often a search is repeated because chunks that it found were replaced before they could be read. */
const MAX_REPEATS = 3

interface Dependencies {
  index: Pick<ChunkIndex, 'search'>
  store: Pick<DocumentStore, 'readChunks' | 'listChunks'>
  analyseQuery: (text: string) => QueryTerms
  /** Absent if words are searched for as they are typed. */
  spelling?: Spelling | undefined
  termsOfChunk: TermsOfChunk
  /** Absent if search is lexical only. */
  embedding?: Pick<Embedding, 'query'> | undefined
  /** Whether every vector of the document store is in the index. */
  hasAllVectors: () => boolean
  /** Absent if hits are not reranked. */
  reranking?: Pick<Reranking, 'scores' | 'gives'> | undefined
}

/** A query without its visibility. */
export interface SearchedFor extends Pick<QueryRequest, 'query' | 'topK' | 'minScore' | 'mode'> {
  /** Earlier questions, the latest first, if the query cannot stand alone. */
  context?: readonly string[] | undefined
  /** The API key that asks: where questions wait to be embedded, the keys take turns. */
  sender?: string | undefined
  /** Adds the score of each stage to each hit. */
  explain?: boolean | undefined
  /** For calls of the chat model. */
  meter?: Meter | undefined
}

export interface Search extends SearchedFor {
  visibility: Visibility
}

/** A search within what a caller may see. */
export interface CallerSearch extends SearchedFor {
  filter?: Filter | undefined
}

interface Answer {
  /** Best first. Identical or nearly identical chunks appear once, however many documents contain them. */
  hits: Hit[]
  /** Words of the question that were taken for others. */
  corrections: Correction[]
  /** True if dense search or reranking was due but could not be done, e.g. because its model did not answer. */
  degraded: boolean
}

export interface Retrieval<Query extends SearchedFor = Search> {
  /** Whether every search asks the chat model. */
  readonly asksModel: boolean
  /**
   * Returns the best chunks for a question. Throws AppError `invalid_request` if `mode` asks for dense search and
   * there is no embedding model.
   */
  search(query: Query, signal?: AbortSignal): Promise<Answer>
}

/** The pipeline from question to hits: correct the spelling, search the index, favour named documents, hydrate, rerank. */
export function createRetrieval(dependencies: Dependencies): Retrieval {
  const { index, store, analyseQuery, spelling, termsOfChunk } = dependencies
  const { embedding, hasAllVectors, reranking } = dependencies

  /** Not while vectors are incomplete: half of them would find half of the chunks, and nobody would notice. */
  const embed = async (text: string, signal?: AbortSignal, sender?: string) =>
    hasAllVectors() ? embedding?.query(text, signal, sender) : undefined

  /** Returns the first `wanted` chunks of the ranking; searches deeper, or again, if it finds fewer. */
  const retrieve = async (
    visibility: Visibility,
    { text, ...query }: Omit<ChunkQuery, 'limit'> & { text: string },
    count: number,
    signal?: AbortSignal,
  ) => {
    const naming = namingOf(text, analyseQuery)
    const isStale = createStaleness()
    const isDeep = naming !== undefined || query.mode === 'hybrid'
    let limit = Math.max(count + SPARE_MATCHES, isDeep ? MIN_FUSED : 0)
    for (;;) {
      const { candidates, exhausted, degraded } = await index.search(
        visibility,
        { ...query, limit },
        signal,
      )
      const ranked = await favourNamed(store, visibility, candidates, naming)
      const { matches, missing } = await hydrateChunks(store, visibility, ranked, count)
      if (isStale(missing)) continue
      if (matches.length === count || exhausted || limit >= MAX_MATCHES)
        return { matches, degraded }
      limit = Math.min(limit * DEEPER, MAX_MATCHES)
    }
  }

  const modeOf = ({ mode = embedding ? 'hybrid' : 'lexical' }: Search) => {
    if (embedding || mode === 'lexical') return mode
    throw noVectors(mode)
  }

  /** What is searched for, by words and by meaning. */
  const analyse = async ({ query, context = [], visibility }: Search, signal?: AbortSignal) => {
    const questions = [query, ...context].map((each) => each.slice(0, MAX_QUERY))
    const termsOf = (texts: readonly string[]) =>
      mixQueryTerms(texts.map(analyseQuery), CONTEXT_WEIGHT)
    const spelt = questions.map(spellPeriods)
    const hasPeriods = spelt.some((each, place) => each !== questions[place])
    const typed = termsOf(questions)
    const terms = hasPeriods ? addTerms(typed, termsOf(spelt), PERIOD_WEIGHT) : typed
    const text = questions.toReversed().join('\n')
    if (!spelling) return { text, terms, corrections: [] }
    const found = await spelling.correct(questions.join('\n'), visibility, signal)
    return {
      text: spelling.isSure ? correctText(text, found) : text,
      terms: correctTerms(terms, found),
      corrections: found.map(({ typed, corrected }) => ({ typed, corrected })),
    }
  }

  return {
    asksModel: reranking?.gives === 'order',
    async search(search, signal) {
      const { topK, minScore = 0, visibility, sender, explain = false, meter } = search
      const mode = modeOf(search)
      if (topK === 0) return { hits: [], corrections: [], degraded: false }
      const { text, terms, corrections } = await analyse(search, signal)
      const vector = mode === 'lexical' ? undefined : embed(text, signal, sender)
      if (vector)
        void ignore(vector, 'the index hears of it, unless the document store fails first')
      const count = reranking ? Math.max(topK, MIN_RERANKED) : topK
      const query = { mode, terms, vector, text }
      const { matches, degraded } = await retrieve(visibility, query, count, signal)
      const reranked = await rerank(reranking, { query: text, chunks: matches, meter }, signal)
      const best = (reranked ?? matches).slice(0, topK)
      const scores = scoresOf(best, { terms, mode }, termsOfChunk)
      // The weight of a word would tell whether documents contain it that the person may not see.
      const isExplained = explain && visibility.rights === 'all'
      return {
        hits: best
          .map((chunk, place) => toHit(chunk, scores[place] ?? 0, isExplained))
          .filter(({ score }) => score >= minScore),
        corrections,
        degraded: degraded || reranked === undefined,
      }
    },
  }
}

/**
 * Tells whether chunks that could not be read were replaced since the search that found them: a replacement is in the
 * index before the old chunk leaves the document store, so searching again finds it. A key that is missing for the
 * second time was not replaced in between.
 */
function createStaleness() {
  const earlier = new Set<number>()
  let repeats = 0
  return (missing: readonly number[]): boolean => {
    const isStale = missing.some((key) => !earlier.has(key))
    for (const key of missing) earlier.add(key)
    return isStale && repeats++ < MAX_REPEATS
  }
}

function noVectors(mode: string): AppError {
  const message = `must be lexical: ${mode} requires an embedding model, and EMBEDDING_MODEL gives this server none`
  return refusal('mode', message)
}

const RETRIEVAL = { attributes: { 'gen_ai.operation.name': 'retrieval' } }

/**
 * Wraps a retrieval so that each search first calls `checkReady`, whose errors it throws (a partial answer would look
 * like a complete one). Tells `begun` the question, and `ended` how long the search took in milliseconds, whether or not
 * it succeeded.
 */
export function watchSearches(
  retrieval: Retrieval,
  checkReady: () => Promise<void>,
  observer: { onQuestion(question: string): void; ended(milliseconds: number): void },
): Retrieval {
  return {
    asksModel: retrieval.asksModel,
    async search(query, signal) {
      await checkReady()
      observer.onQuestion(query.query)
      const started = performance.now()
      try {
        return await inSpan('retrieval', RETRIEVAL, () => retrieval.search(query, signal))
      } finally {
        observer.ended(performance.now() - started)
      }
    },
  }
}
