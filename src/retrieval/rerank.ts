import { withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createOutage } from '@agent-server/lib/outage.ts'
import { type Reranker, RerankerError, type RerankInput } from '@agent-server/models'
import { toEmbeddedText } from './embedding.ts'
import type { MatchedChunk } from './hydrate.ts'

/** Minimum number of chunks to rerank: a reranker is worth its time only if it sees more than are shown. */
export const MIN_RERANKED = 50

/**
 * Returns the chunks in the order of the reranker. Returns them unchanged if there is
 * no reranker, and undefined if it does not answer.
 */
export async function rerank(
  reranking: Pick<Reranking, 'scores' | 'gives'> | undefined,
  { chunks, ...input }: Omit<RerankInput, 'texts'> & { chunks: readonly MatchedChunk[] },
  signal?: AbortSignal,
): Promise<readonly MatchedChunk[] | undefined> {
  if (!reranking || chunks.length === 0) return chunks
  const texts = chunks.map(({ chunk }) => toEmbeddedText(chunk))
  const scores = await reranking.scores({ ...input, texts }, signal)
  return scores
    ?.map((score, position) => ({ score, position }))
    .toSorted((a, b) => b.score - a.score || a.position - b.position)
    .flatMap(({ score, position }) => {
      const chunk = chunks[position]
      return chunk ? { ...chunk, ...(reranking.gives === 'relevance' && { rerank: score }) } : []
    })
}

/** Time limits for reranking, of which a chat model takes longer; after them, hits stay in the order of the search. */
const DEADLINE_MS = { relevance: 3_000, order: 15_000 }

interface Dependencies {
  reranker: Reranker
  log: Pick<Log, 'info' | 'warn'>
  now?: () => number
  deadlineMs?: number
}

export type Reranking = ReturnType<typeof createReranking>

/** The reranker with a deadline; it remembers outages, so that no request waits for a reranker that is down. */
export function createReranking({
  reranker,
  log,
  now = () => performance.now(),
  deadlineMs = DEADLINE_MS[reranker.scores],
}: Dependencies) {
  const outage = createOutage({
    name: 'the reranking model',
    consequence: 'hits keep their original order',
    isOutage: (error) => error instanceof RerankerError,
    now,
    log,
  })
  const late = () =>
    new RerankerError(`The reranking model did not respond within ${deadlineMs} ms`)
  const ask = (input: RerankInput, signal?: AbortSignal) =>
    outage.run(() => withDeadline(deadlineMs, (stop) => reranker.rerank(input, stop), late, signal))

  return {
    gives: reranker.scores,
    /**
     * One score per text, in the same order; undefined if the model does not answer in time or fails, or the caller
     * has used up a limit. Throws the abort reason of `signal`.
     */
    async scores(input: RerankInput, signal?: AbortSignal) {
      try {
        return await ask(input, signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof RerankerError || isLimit(error)) return undefined
        throw error
      }
    },

    /**
     * Readiness check: throws AppError if the model does not work. A chat model is not asked, since that costs tokens.
     */
    check: (signal: AbortSignal) =>
      outage.check(
        reranker.scores === 'relevance'
          ? () => ask({ query: 'ready', texts: ['ready'] }, signal)
          : undefined,
      ),
  }
}

const isLimit = (error: unknown) => error instanceof AppError && error.code === 'rate_limited'
