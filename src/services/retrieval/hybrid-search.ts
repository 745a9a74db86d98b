import { AppError } from '../../errors.ts'
import type { ChunkIndex, HybridRanking, IndexMatch } from '../../indexes/chunk-index.ts'
import { rankHybrid } from '../../indexes/hybrid-ranking.ts'
import type { SearchMode } from '../../schemas/query.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { createFeedback, WordQuery } from './feedback.ts'

interface Dependencies {
  index: Pick<ChunkIndex, 'searchHybrid' | 'nearest'>
  feedback: ReturnType<typeof createFeedback>
  store: Pick<DocumentStore, 'readVectors'>
}

interface HybridWordQuery extends WordQuery {
  /** The question's vector, on the way; nothing where it was not embedded. */
  vector: Promise<Float32Array<ArrayBuffer> | undefined>
  /** `dense` leaves the words out, where there is a vector. */
  mode?: SearchMode | undefined
}

export type HybridSearch = ReturnType<typeof createHybridSearch>

/** Search by words and meaning; by words alone where the question has no vector. They need not wait for the embedder, which may be far away. */
export function createHybridSearch({ index, feedback, store }: Dependencies) {
  return async (
    { vector: embedded, mode, ...query }: HybridWordQuery,
    signal?: AbortSignal,
  ): Promise<HybridRanking & { lacksVectors?: true }> => {
    const { only, filter, limit } = query
    const wordless = mode === 'dense' && (await embedded)
    const byWords = async (error: unknown) => {
      if (!isLost(error)) throw error
      const lexical = await feedback.search(query, signal)
      return { ...lexicalOnly(lexical, limit), lacksVectors: true as const }
    }
    if (wordless) {
      const nearest = index.nearest({ vector: wordless, only, filter, limit }, signal)
      return nearest.then((matches) => denseOnly(matches, limit), byWords)
    }
    if (index.searchHybrid) {
      const [learned, vector] = await Promise.all([feedback.learn(query, signal), embedded])
      if (!vector?.length) return lexicalOnly(await feedback.apply(learned, query, signal), limit)
      return index.searchHybrid({ ...query, feedback: learned.feedback, vector }, signal)
    }
    const [lexical, vector] = await Promise.all([feedback.search(query, signal), embedded])
    if (!vector?.length) return lexicalOnly(lexical, limit)
    const near = async () =>
      (await index.nearest({ vector, only, filter, limit }, signal)).map(({ key }) => key)
    const parts = { nearest: near, read: store.readVectors }
    return rankHybrid(parts, lexical, { vector, only, limit }).catch((error: unknown) => {
      if (!isLost(error)) throw error
      return { ...lexicalOnly(lexical, limit), lacksVectors: true as const }
    })
  }
}

/** Words were found where vectors are not to be had: they serve until those are back. */
function isLost(error: unknown): boolean {
  return error instanceof AppError && error.code === 'index_unavailable'
}

function denseOnly(matches: readonly IndexMatch[], limit: number): HybridRanking {
  const candidates = matches.map(({ key, score }) => ({ key, score, dense: score }))
  return { candidates, exhausted: matches.length < limit }
}

/** The ranking by words alone: their own score is the final one. */
export function lexicalOnly(matches: readonly IndexMatch[], limit: number): HybridRanking {
  const candidates = matches.map(({ key, score }) => ({ key, score, lexical: score }))
  return { candidates, exhausted: matches.length < limit }
}
