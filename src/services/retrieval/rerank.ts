import { toEmbeddedText } from '../embedding/embedded-text.ts'
import type { Reranking } from '../reranking/create-reranking.ts'
import type { FoundPassage } from './read-passages.ts'

/** A reranker is worth its time where it sees more than the few that are shown. */
export const LEAST_RERANKED = 50

/**
 * The passages in the order of the reranker, whose score is the final one; as they are where there is no
 * reranker; nothing where it does not answer.
 */
export async function rerank(
  reranking: Pick<Reranking, 'scores'> | undefined,
  query: string,
  passages: readonly FoundPassage[],
  signal?: AbortSignal,
): Promise<readonly FoundPassage[] | undefined> {
  if (!reranking || passages.length === 0) return passages
  const texts = passages.map(({ chunk }) => toEmbeddedText(chunk))
  const scores = await reranking.scores(query, texts, signal)
  return scores
    ?.map((score, position) => ({ score, position }))
    .toSorted((a, b) => b.score - a.score || a.position - b.position)
    .flatMap(({ score, position }) => {
      const passage = passages[position]
      return passage ? { ...passage, score, rerank: score } : []
    })
}
