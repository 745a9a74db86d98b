import { AppError } from '../../errors.ts'
import type {
  ChunkIndex,
  HybridRanking,
  IndexMatch,
  NearestQuery,
  WordQuery,
} from '../../indexes/chunk-index.ts'
import { rankHybrid } from '../../indexes/hybrid-ranking.ts'
import type { SearchMode } from '../../schemas/query.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { createFeedback } from './feedback.ts'

interface Dependencies {
  index: Pick<ChunkIndex, 'search' | 'searchHybrid' | 'nearest'>
  feedback: ReturnType<typeof createFeedback>
  store: Pick<DocumentStore, 'readVectors'>
}

interface HybridWordQuery extends WordQuery {
  /** The question's vector, still being computed; resolves to undefined if it could not be embedded. */
  vector: Promise<Float32Array<ArrayBuffer> | undefined>
  /** `dense` ignores the words if there is a vector. */
  mode?: SearchMode | undefined
}

/**
 * Results found while the question was being embedded: the fused ranking if the index compares vectors itself,
 * otherwise the lexical matches.
 */
interface FirstLook {
  fused: HybridRanking | undefined
  lexical: IndexMatch[] | undefined
}

export type HybridSearch = ReturnType<typeof createHybridSearch>

/**
 * Lexical and dense search, fused; lexical only if the question has no vector. Pseudo-relevance feedback is used only
 * if the question or a candidate lacks its vector: next to dense search it gains nothing, see
 * docs/retrieval-quality.md.
 */
export function createHybridSearch({ index, feedback, store }: Dependencies) {
  const byWords = async (query: WordQuery, signal?: AbortSignal) =>
    lexicalOnly(await feedback.search(query, signal), query.limit)

  const findNearest = async (query: NearestQuery, signal?: AbortSignal) =>
    denseOnly(await index.nearest(query, signal), query.limit)

  const byBoth = async (
    query: WordQuery & NearestQuery,
    { fused, lexical }: FirstLook,
    signal?: AbortSignal,
  ): Promise<HybridRanking> => {
    const nearest = async () => (await index.nearest(query, signal)).map(({ key }) => key)
    const fuse = (matches: readonly IndexMatch[]) =>
      rankHybrid({ nearest, read: store.readVectors }, matches, query)
    const ranking = fused ?? (lexical && (await fuse(lexical)))
    if (ranking?.candidates.every(({ dense }) => dense !== undefined)) return ranking
    return fuse(await feedback.search(query, signal))
  }

  /** Falls back to lexical search while the index rebuilds lost vectors. */
  const ifLost = (query: WordQuery, signal?: AbortSignal) => async (error: unknown) => {
    if (!(error instanceof AppError && error.code === 'index_unavailable')) throw error
    return { ...(await byWords(query, signal)), lacksVectors: true as const }
  }

  return async (
    { vector: embedded, mode, ...query }: HybridWordQuery,
    signal?: AbortSignal,
  ): Promise<HybridRanking & { lacksVectors?: true }> => {
    const isDense = mode === 'dense'
    // Lexical search need not wait for the embedder, which may be slow to reach.
    const asked = { ...query, vector: embedded }
    const both = isDense ? undefined : index.searchHybrid?.(asked, signal)
    const words = isDense || both ? undefined : index.search(query, signal)
    const [vector, fused, lexical] = await Promise.all([embedded, both, words])
    if (!vector || (!isDense && vector.length === 0)) return byWords(query, signal)
    const embeddedQuery = { ...query, vector }
    const found = isDense
      ? findNearest(embeddedQuery, signal)
      : byBoth(embeddedQuery, { fused, lexical }, signal)
    return found.catch(ifLost(query, signal))
  }
}

function denseOnly(matches: readonly IndexMatch[], limit: number): HybridRanking {
  const candidates = matches.map(({ key, score }) => ({ key, score, dense: score }))
  return { candidates, exhausted: matches.length < limit }
}

/** A ranking by lexical search only: the lexical score is the final score. */
export function lexicalOnly(matches: readonly IndexMatch[], limit: number): HybridRanking {
  const candidates = matches.map(({ key, score }) => ({ key, score, lexical: score }))
  return { candidates, exhausted: matches.length < limit }
}
