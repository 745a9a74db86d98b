import { AppError } from '../../errors.ts'
import { type Embedder, EmbedderError } from '../../models/embedder.ts'
import type { ChunkVectors } from '../../stores/document-store.ts'
import { createOutage } from '../outage.ts'
import { type EmbeddedText, joinVectors, toEmbeddedText } from './embedded-text.ts'

/** A question is answered by words alone rather than later than this. */
const QUERY_MILLISECONDS = 2_000
/** A readiness check asks the model only if nobody else has for this long. */
const FRESH_MILLISECONDS = 60_000

export interface Embedding {
  /** The vectors of passages, in order. Throws `EmbedderError`, at once while the embedder is known to be down. */
  documents(passages: readonly EmbeddedText[], signal: AbortSignal): Promise<ChunkVectors>
  /** The vector of a question; nothing where the embedder does not give one in time. Throws only what `signal` was aborted with. */
  query(text: string, signal?: AbortSignal): Promise<Float32Array<ArrayBuffer> | undefined>
  /** How long to leave the embedder alone, in milliseconds; 0 while it works. */
  pauseMilliseconds(): number
  /** For readiness: throws AppError where the embedder does not work. */
  check(signal: AbortSignal): Promise<void>
}

interface Dependencies {
  embedder: Embedder
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
  now?: () => number
}

/** The embedder with a memory for its outages, so that nobody waits for one that is down. */
export function createEmbedding({ embedder, log, now = Date.now }: Dependencies): Embedding {
  const outage = createOutage({
    name: 'the embedding model',
    consequence: 'documents wait, search goes by words alone',
    ...{ now, log },
  })

  /** Runs `work` unless the embedder is down, and learns from how it goes. */
  const attempt = async <Output>(work: () => Promise<Output>): Promise<Output> => {
    outage.enter()
    try {
      const output = await work()
      outage.ended()
      return output
    } catch (error) {
      if (error instanceof EmbedderError && error.kind !== 'refused') outage.failed(error)
      throw error
    }
  }

  /** As `attempt`, for a question: a model that takes too long counts as down. */
  const ask = (text: string, signal: AbortSignal | undefined) =>
    attempt(async () => {
      const deadline = AbortSignal.timeout(QUERY_MILLISECONDS)
      const stop = signal ? AbortSignal.any([signal, deadline]) : deadline
      try {
        return await embedder.embedQuery(text, stop)
      } catch (error) {
        signal?.throwIfAborted()
        if (!deadline.aborted) throw error
        const message = `The embedding model did not answer within ${QUERY_MILLISECONDS} ms`
        throw new EmbedderError('unavailable', message)
      }
    })

  return {
    async documents(passages, signal) {
      const vectors = await attempt(() =>
        embedder.embedDocuments(passages.map(toEmbeddedText), signal),
      )
      return { model: embedder.name, ...joinVectors(vectors) }
    },

    async query(text, signal) {
      try {
        return await ask(text, signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof EmbedderError)) throw error
        return undefined
      }
    },

    pauseMilliseconds: outage.pauseMilliseconds,

    async check(signal) {
      if (outage.quietMilliseconds() < FRESH_MILLISECONDS) return
      try {
        await ask('ready', signal)
      } catch (error) {
        const told = error instanceof EmbedderError ? error.message : 'The embedder does not answer'
        throw new AppError('upstream_failed', told, { cause: error })
      }
    },
  }
}
