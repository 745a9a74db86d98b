import { setTimeout as pause } from 'node:timers/promises'
import { EmbedderError } from '../embedder.ts'
import { isRefusal } from './embedding-failure.ts'
import { type EmbeddingServer, requestEmbeddings } from './embedding-request.ts'
import type { ModelLog } from './model-log.ts'
import { retryDelay } from './retry-policy.ts'
import { toUpstreamFailure } from './upstream-failure.ts'

export interface EmbeddingCallsOptions extends EmbeddingServer {
  /** The dimension of the vectors that are kept already; a model that answers with another one is refused. */
  dimension?: number | undefined
  log?: ModelLog | undefined
}

export interface EmbeddingCalls {
  /** Known from the first answer on. */
  readonly dimension: number | undefined
  /** A unit vector per text, asked for again where that may help. Throws UpstreamFailure, EmbedderError `changed`, or what `signal` was aborted with. */
  call(texts: readonly string[], signal: AbortSignal): Promise<Float32Array<ArrayBuffer>[]>
}

export function createEmbeddingCalls({ log, ...options }: EmbeddingCallsOptions): EmbeddingCalls {
  let { dimension } = options

  const check = (found: number | undefined) => {
    dimension ??= found
    if (found === dimension) return
    throw new EmbedderError(
      'changed',
      `The embedding model "${options.model}" gives vectors of ${found} numbers, but those kept have ${dimension}: set EMBEDDING_MODEL back, or run npm run reindex with the server stopped`,
    )
  }

  /** Waits until the next try; throws the failure where another would not help. */
  const waitAfter = async (error: unknown, retries: number, signal: AbortSignal) => {
    const failure = toUpstreamFailure(error)
    const wait = isRefusal(failure) ? undefined : retryDelay(failure, retries)
    if (wait === undefined) throw failure
    const { kind, status } = failure.facts
    log?.warn({ kind, status, retry: retries + 1, wait }, 'The embedding model is asked again')
    await pause(wait, undefined, { signal }).catch(() => signal.throwIfAborted())
  }

  const request = async (texts: readonly string[], signal: AbortSignal) => {
    for (let retries = 0; ; retries++) {
      try {
        return await requestEmbeddings(options, texts, signal)
      } catch (error) {
        signal.throwIfAborted()
        await waitAfter(error, retries, signal)
      }
    }
  }

  return {
    get dimension() {
      return dimension
    },
    async call(texts, signal) {
      const vectors = await request(texts, signal)
      check(vectors[0]?.length)
      return vectors
    },
  }
}
