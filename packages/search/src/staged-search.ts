import { AppError } from '@agent-server/lib/errors.ts'
import { isBroad, type Visibility } from '@agent-server/lib/visibility.ts'
import type {
  ChunkIndex,
  ChunkQuery,
  IndexMatch,
  LexicalMatch,
  SearchResult,
} from './chunk-index.ts'
import type { QueryTerms } from './term-batch.ts'

/** What a search is restricted to; empty means everything. */
export interface Scope {
  /** Keys, ascending. */
  only?: Uint32Array | undefined
  /** Instead of `only`, if the index applies the visibility itself. */
  visibility?: Visibility | undefined
  /** With it: the collections that its person may read. */
  readable?: readonly string[] | undefined
}

export interface LexicalQuery extends Scope {
  terms: QueryTerms
  limit: number
}

export interface VectorQuery extends Scope {
  vector: Float32Array<ArrayBuffer>
  limit: number
}

/** The searches that an index offers, which `createSearch` combines. Matches are sorted, best first. */
export interface Stages {
  /** How the index restricts a search to what is visible: by itself, or to keys. */
  scopeOf(visibility: Visibility, signal?: AbortSignal): Promise<Scope>
  /** BM25. A scope restricts the matches but does not affect their scores. */
  lexical(query: LexicalQuery, signal?: AbortSignal): Promise<LexicalMatch[]>
  /** The chunks with the nearest vectors; scores are cosines accurate to about 0.01. */
  nearest(query: VectorQuery, signal?: AbortSignal): Promise<IndexMatch[]>
  /** Lexical matches fused with those of `nearest`, see fusion.ts. */
  fuse(
    lexical: readonly IndexMatch[],
    query: LexicalQuery & VectorQuery,
    signal?: AbortSignal,
  ): Promise<Omit<SearchResult, 'degraded'>>
}

/** How often a search is repeated because documents in its scope were replaced before it reached the index. */
const MAX_REPEATS = 3

/** The search of an index over its stages. */
export function createSearch(stages: Stages): ChunkIndex['search'] {
  const rank = createRanking(stages)
  return async (visibility, query, signal) => {
    signal?.throwIfAborted()
    // Documents of other conversations are few: to drop those found is cheaper than to restrict the search.
    const resolve = async (): Promise<Scope> =>
      isBroad(visibility) ? {} : stages.scopeOf(visibility, signal)
    let scope = await resolve()
    for (let repeats = 0; ; repeats++) {
      if (scope.only?.length === 0) return { candidates: [], exhausted: true, degraded: false }
      const result = await rank({ ...query, ...scope }, signal)
      if (!result.exhausted || !scope.only || repeats === MAX_REPEATS) return result
      // The index may have dropped chunks in the scope, whose replacements were not part of it.
      const current = await resolve()
      if (isSame(scope.only, current.only)) return result
      scope = current
    }
  }
}

function isSame(some: Uint32Array, others: Uint32Array | undefined): boolean {
  if (some === others) return true
  return some.length === others?.length && some.every((key, place) => key === others[place])
}

function createRanking({ lexical, nearest, fuse }: Stages) {
  const byVectors = async (query: VectorQuery, signal?: AbortSignal) => {
    const matches = await nearest(query, signal)
    const candidates = matches.map(({ key, score }) => ({ key, score, dense: score }))
    return { candidates, exhausted: matches.length < query.limit }
  }

  /** Undefined while the index rebuilds lost vectors; it may still have the terms. */
  const withVectors = async (
    query: LexicalQuery & VectorQuery,
    matches: readonly IndexMatch[] | undefined,
    signal?: AbortSignal,
  ) => {
    try {
      return await (matches ? fuse(matches, query, signal) : byVectors(query, signal))
    } catch (error) {
      if (error instanceof AppError && error.code === 'index_unavailable') return undefined
      throw error
    }
  }

  return async (
    { mode, vector: embedding, ...query }: ChunkQuery & Scope,
    signal?: AbortSignal,
  ): Promise<SearchResult> => {
    if (mode === 'lexical' || !embedding) {
      return { ...byTerms(await lexical(query, signal), query.limit), degraded: false }
    }
    // Lexical search need not wait for the embedder, which may be slow to reach.
    const searching = mode === 'dense' ? undefined : lexical(query, signal)
    const [vector, matches] = await Promise.all([embedding, searching])
    const ranking = vector && (await withVectors({ ...query, vector }, matches, signal))
    if (ranking) return { ...ranking, degraded: false }
    return { ...byTerms(matches ?? (await lexical(query, signal)), query.limit), degraded: true }
  }
}

function byTerms(matches: readonly LexicalMatch[], limit: number): Omit<SearchResult, 'degraded'> {
  const candidates = matches.map((match) => ({ ...match, lexical: match.score }))
  return { candidates, exhausted: matches.length < limit }
}
