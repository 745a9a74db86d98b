import { AppError } from '../../errors.ts'
import { createOutage } from '../../lib/outage.ts'
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
/** A readiness check asks the model only if nobody else has for this long. */
const FRESH_MS = 60_000

export interface Reranking {
  /** A score per text, in their order; nothing where the model does not give them in time. Throws only what `signal` was aborted with. */
  scores(
    query: string,
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<number[] | undefined>
  /** For readiness: throws AppError where the model does not work. */
  check(signal: AbortSignal): Promise<void>
}

interface Dependencies {
  reranker: Reranker
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
  now?: () => number
  deadlineMs?: number
}

/** The reranker with a deadline and a memory for its outages, so that nobody waits for one that is down. */
export function createReranking({
  reranker,
  log,
  now = Date.now,
  deadlineMs = DEADLINE_MS,
}: Dependencies): Reranking {
  const outage = createOutage({
    name: 'the reranking model',
    consequence: 'hits stay in the order of the search',
    ...{ now, log },
  })

  const ask = async (query: string, texts: readonly string[], signal: AbortSignal | undefined) => {
    outage.enter()
    const deadline = AbortSignal.timeout(deadlineMs)
    const stop = signal ? AbortSignal.any([signal, deadline]) : deadline
    try {
      const scores = await reranker.rerank(query, texts, stop)
      outage.ended()
      return scores
    } catch (error) {
      signal?.throwIfAborted()
      if (!deadline.aborted && !(error instanceof RerankerError)) throw error
      const message = `The reranking model did not answer within ${deadlineMs} ms`
      const failure = error instanceof RerankerError ? error : new RerankerError(message)
      outage.failed(failure)
      throw failure
    }
  }

  return {
    async scores(query, texts, signal) {
      try {
        return await ask(query, texts, signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof RerankerError)) throw error
        return undefined
      }
    },

    async check(signal) {
      if (outage.quietMs() < FRESH_MS) return
      try {
        await ask('ready', ['ready'], signal)
      } catch (error) {
        const message =
          error instanceof RerankerError ? error.message : 'The reranker does not answer'
        throw new AppError('upstream_failed', message, { cause: error })
      }
    },
  }
}
