import { AppError } from '../../errors.ts'
import { type Reranker, RerankerError } from '../../models/reranker.ts'
import { createOutage } from '../outage.ts'

/** A question is answered in the order that the search found rather than later than this. */
const DEADLINE_MILLISECONDS = 3_000
/** A readiness check asks the model only if nobody else has for this long. */
const FRESH_MILLISECONDS = 60_000

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
  deadlineMilliseconds?: number
}

/** The reranker with a deadline and a memory for its outages, so that nobody waits for one that is down. */
export function createReranking({
  reranker,
  log,
  now = Date.now,
  deadlineMilliseconds = DEADLINE_MILLISECONDS,
}: Dependencies): Reranking {
  const outage = createOutage({
    name: 'the reranking model',
    consequence: 'hits stay in the order of the search',
    ...{ now, log },
  })

  const ask = async (query: string, texts: readonly string[], signal: AbortSignal | undefined) => {
    outage.enter()
    const deadline = AbortSignal.timeout(deadlineMilliseconds)
    const stop = signal ? AbortSignal.any([signal, deadline]) : deadline
    try {
      const scores = await reranker.rerank(query, texts, stop)
      outage.ended()
      return scores
    } catch (error) {
      signal?.throwIfAborted()
      if (!deadline.aborted && !(error instanceof RerankerError)) throw error
      const message = `The reranking model did not answer within ${deadlineMilliseconds} ms`
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
      if (outage.quietMilliseconds() < FRESH_MILLISECONDS) return
      try {
        await ask('ready', ['ready'], signal)
      } catch (error) {
        const told = error instanceof RerankerError ? error.message : 'The reranker does not answer'
        throw new AppError('upstream_failed', told, { cause: error })
      }
    },
  }
}
