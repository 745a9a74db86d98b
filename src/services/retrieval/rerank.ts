import { withDeadline } from '../../lib/abort.ts'
import { createOutage, type OutageLog } from '../../lib/outage.ts'
import { type Reranker, RerankerError } from '../../models/reranker.ts'
import { toEmbeddedText } from '../embedding/embedding.ts'
import type { FoundChunk } from './hydrate.ts'

/** A reranker is worth its time where it sees more than the few that are shown. */
export const MIN_RERANKED = 50

/**
 * The chunks in the order of the reranker, whose score is the final one; as they are where there is no
 * reranker; nothing where it does not answer.
 */
export async function rerank(
  reranking: Pick<Reranking, 'scores'> | undefined,
  query: string,
  chunks: readonly FoundChunk[],
  signal?: AbortSignal,
): Promise<readonly FoundChunk[] | undefined> {
  if (!reranking || chunks.length === 0) return chunks
  const texts = chunks.map(({ chunk }) => toEmbeddedText(chunk))
  const scores = await reranking.scores(query, texts, signal)
  return scores
    ?.map((score, position) => ({ score, position }))
    .toSorted((a, b) => b.score - a.score || a.position - b.position)
    .flatMap(({ score, position }) => {
      const chunk = chunks[position]
      return chunk ? { ...chunk, score, rerank: score } : []
    })
}

/** A question is answered in the order that the search found rather than later than this. */
const DEADLINE_MS = 3_000

interface Dependencies {
  reranker: Reranker
  log: OutageLog
  now?: () => number
  deadlineMs?: number
}

export type Reranking = ReturnType<typeof createReranking>

/** The reranker with a deadline and a memory for its outages, so that nobody waits for one that is down. */
export function createReranking({
  reranker,
  log,
  now = Date.now,
  deadlineMs = DEADLINE_MS,
}: Dependencies) {
  const outage = createOutage({
    name: 'the reranking model',
    consequence: 'hits stay in the order of the search',
    isOutage: (error) => error instanceof RerankerError,
    ...{ now, log },
  })
  const late = () => new RerankerError(`The reranking model did not answer within ${deadlineMs} ms`)
  const ask = (query: string, texts: readonly string[], signal?: AbortSignal) =>
    outage.run(() =>
      withDeadline(deadlineMs, (stop) => reranker.rerank(query, texts, stop), late, signal),
    )

  return {
    /** A score per text, in their order; nothing where the model does not give them in time. Throws only what `signal` was aborted with. */
    async scores(query: string, texts: readonly string[], signal?: AbortSignal) {
      try {
        return await ask(query, texts, signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof RerankerError)) throw error
        return undefined
      }
    },

    /** For readiness: throws AppError where the model does not work. */
    check: (signal: AbortSignal) => outage.check(() => ask('ready', ['ready'], signal)),
  }
}
