import { AppError } from '@agent-server/lib/errors.ts'
import type { Filter } from '../schemas/metadata.ts'
import type { ChunkIndex, ChunkQuery, Found, IndexMatch } from './chunk-index.ts'
import type { QueryTerms } from './term-batch.ts'

/** What a search is restricted to; empty means everything. */
export interface Scope {
  /** Keys, ascending. */
  only?: Uint32Array | undefined
  /** Instead of `only`, if the index applies the filter itself. */
  filter?: Filter | undefined
}

export interface WordQuery extends Scope {
  terms: QueryTerms
  limit: number
}

export interface VectorQuery extends Scope {
  vector: Float32Array<ArrayBuffer>
  limit: number
}

/** The searches of which an index is capable; `createSearch` combines them. Matches are sorted, the best first. */
export interface Stages {
  /** How the index restricts a search to what a filter accepts: by itself, or to keys. */
  scopeOf(filter: Filter, signal?: AbortSignal): Promise<Scope>
  /** BM25. A scope restricts the matches but does not affect their scores. */
  words(query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /**
   * BM25 with pseudo-relevance feedback: other terms of the best chunks raise the score of chunks that contain them. The
   * best chunk keeps its place, since it is the most likely to be what was asked for. A query that only a few chunks
   * match is answered without: it names something specific, which other terms would only push down.
   */
  wordsWithFeedback(query: WordQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /** The chunks with the nearest vectors; scores are cosines accurate to about 0.01. */
  nearest(query: VectorQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /** Lexical matches fused with those of `nearest`, see fusion.ts. */
  fuse(
    lexical: readonly IndexMatch[],
    query: WordQuery & VectorQuery,
    signal?: AbortSignal,
  ): Promise<Omit<Found, 'degraded'>>
}

/** How often a search is repeated because documents in its scope were replaced before the index was asked. */
const MAX_REPEATS = 3

/** The search of an index over its stages. */
export function createSearch(stages: Stages): ChunkIndex['search'] {
  const rank = createRanking(stages)
  return async ({ filter, ...query }, signal) => {
    signal?.throwIfAborted()
    const resolve = async (): Promise<Scope> => (filter ? stages.scopeOf(filter, signal) : {})
    let scope = await resolve()
    for (let repeats = 0; ; repeats++) {
      if (scope.only?.length === 0) return { candidates: [], exhausted: true, degraded: false }
      const found = await rank({ ...query, ...scope }, signal)
      if (!found.exhausted || !scope.only || repeats === MAX_REPEATS) return found
      // The index may have dropped chunks in the scope, whose replacements were not part of it.
      const now = await resolve()
      if (isSame(scope.only, now.only)) return found
      scope = now
    }
  }
}

function isSame(some: Uint32Array, others: Uint32Array | undefined): boolean {
  return some.length === others?.length && some.every((key, place) => key === others[place])
}

function createRanking({ words, wordsWithFeedback, nearest, fuse }: Stages) {
  const lexical = async (query: WordQuery, signal?: AbortSignal) => {
    const matches = await wordsWithFeedback(query, signal)
    const candidates = matches.map(({ key, score }) => ({ key, score, lexical: score }))
    return { candidates, exhausted: matches.length < query.limit }
  }

  const dense = async (query: VectorQuery, signal?: AbortSignal) => {
    const matches = await nearest(query, signal)
    const candidates = matches.map(({ key, score }) => ({ key, score, dense: score }))
    return { candidates, exhausted: matches.length < query.limit }
  }

  const hybrid = async (
    query: WordQuery & VectorQuery,
    matches: readonly IndexMatch[],
    signal?: AbortSignal,
  ) => {
    const fused = await fuse(matches, query, signal)
    if (fused.candidates.every((each) => each.dense !== undefined)) return fused
    return fuse(await wordsWithFeedback(query, signal), query, signal)
  }

  /** While the index rebuilds lost vectors, its words may be there. */
  const unlessLost = async (
    byWords: (degraded: boolean) => Promise<Found>,
    search: Promise<Omit<Found, 'degraded'>>,
  ): Promise<Found> => {
    try {
      return { ...(await search), degraded: false }
    } catch (error) {
      if (error instanceof AppError && error.code === 'index_unavailable') return byWords(true)
      throw error
    }
  }

  return async (
    { mode, vector: embedding, ...query }: ChunkQuery & Scope,
    signal?: AbortSignal,
  ): Promise<Found> => {
    const byWords = async (degraded: boolean) => ({ ...(await lexical(query, signal)), degraded })
    if (mode === 'lexical' || !embedding) return byWords(false)
    const isDense = mode === 'dense'
    // Lexical search need not wait for the embedder, which may be slow to reach.
    const searched = isDense ? [] : words(query, signal)
    const [vector, matches] = await Promise.all([embedding, searched])
    if (!vector) return byWords(true)
    const asked = { ...query, vector }
    return unlessLost(byWords, isDense ? dense(asked, signal) : hybrid(asked, matches, signal))
  }
}
