import { withDeadline } from '@agent-server/lib/abort.ts'
import { SetupError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createOutage } from '@agent-server/lib/outage.ts'
import { type Embedder, EmbedderError } from '@agent-server/models'
import type { ChunkText } from '@agent-server/search'
import type { ChunkVectors, DocumentStore } from '@agent-server/stores'

/** If a query's vector takes longer than this, the query is answered by keyword search alone. */
const QUERY_MS = 2_000

interface Dependencies {
  embedder: Embedder
  log: Pick<Log, 'info' | 'warn'>
  now?: () => number
}

export type Embedding = ReturnType<typeof createEmbedding>

/** Wraps the embedder to track its outages, so that nothing waits for one that is down. */
export function createEmbedding({ embedder, log, now = () => performance.now() }: Dependencies) {
  const outage = createOutage({
    name: 'the embedding model',
    consequence: 'embedding is postponed, search is lexical only',
    isOutage: (error) =>
      error instanceof EmbedderError && (error.kind === 'unavailable' || error.kind === 'changed'),
    now,
    log,
  })
  // The built-in one tells when it does not work; if it is late, it has many questions or too few processors.
  const kind = embedder.kind === 'builtin' ? 'busy' : 'unavailable'
  const late = () =>
    new EmbedderError(kind, `The embedding model did not respond within ${QUERY_MS} ms`)
  const ask = (text: string, signal?: AbortSignal, sender?: string) =>
    outage.run(() =>
      withDeadline(QUERY_MS, (stop) => embedder.embedQuery(text, stop, sender), late, signal),
    )

  return {
    kind: embedder.kind,
    model: embedder.name,
    /**
     * The vectors of chunks, in order, for the API key `sender` or the server itself. Throws `EmbedderError`, at once
     * while the embedder is down.
     */
    async documents(
      chunks: readonly ChunkText[],
      signal: AbortSignal,
      sender?: string,
    ): Promise<ChunkVectors> {
      const texts = chunks.map(toEmbeddedText)
      const vectors = await outage.run(() => embedder.embedDocuments(texts, signal, sender))
      return { model: embedder.name, ...joinVectors(vectors) }
    },

    /** The vector of a query; undefined if the embedder fails or is too slow. Throws the reason of `signal`. */
    async query(text: string, signal?: AbortSignal, sender?: string) {
      try {
        return await ask(text, signal, sender)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof EmbedderError)) throw error
        return undefined
      }
    },

    /** How long to wait before calling the embedder again, in milliseconds; 0 while it works. */
    pauseMs: outage.pauseMs,
    /**
     * For readiness: throws AppError `upstream_failed` if the embedder is down, and finds out whether it works again.
     * Never starts the built-in one for the first time.
     */
    check: (signal: AbortSignal) =>
      outage.check(async () => {
        if (embedder.kind === 'remote' || outage.isDown()) await ask('ready', signal)
      }),
    close: () => embedder.close?.(),
  }
}

/** Documents are never re-embedded unasked: it takes time and may cost money. */
const REMEDY =
  'run npm run re-embed with the server stopped (or let the server do it: EMBEDDING_MODEL_NEXT, or the page Models of the web UI)'

/**
 * The dimension that new vectors must have, or undefined if there are no vectors yet. Throws a SetupError that names
 * the remedy if the stored vectors were not made by `model`.
 */
export async function checkEmbedding(
  store: Pick<DocumentStore, 'embedding' | 'vectorKeys'>,
  model: string,
): Promise<number | undefined> {
  const stored = await store.embedding()
  if (!stored || (await store.vectorKeys()).length === 0) return undefined
  if (stored.model === model) return stored.dimension
  throw new SetupError(
    `The documents were embedded with "${stored.model}", but EMBEDDING_MODEL is "${model}": set it back, or ${REMEDY}`,
  )
}

/** How long startup waits for the embedder; one that is down then is checked later. */
const START_MS = 5_000

/** Throws a SetupError that names the remedy if the embedder's vectors differ in dimension from the stored ones. */
export async function checkDimension(embedder: Embedder): Promise<void> {
  try {
    await embedder.embedQuery('dimension', AbortSignal.timeout(START_MS))
  } catch (error) {
    if (error instanceof EmbedderError && error.kind === 'changed')
      throw new SetupError(error.message)
  }
}

/** The most informative parts come first, because text that is too long is cut at its end. */
export function toEmbeddedText({ title, heading, context, text }: ChunkText): string {
  return [title, heading, context, text].filter(Boolean).join('\n')
}

/** Concatenates vectors of equal length. */
export function joinVectors(vectors: readonly Float32Array[]): {
  dimension: number
  values: Float32Array<ArrayBuffer>
} {
  const dimension = vectors[0]?.length ?? 0
  const values = new Float32Array(vectors.length * dimension)
  for (const [position, vector] of vectors.entries()) values.set(vector, position * dimension)
  return { dimension, values }
}
