import { AppError } from '../../errors.ts'
import type { ChunkText } from '../../indexes/analyser/analyser.ts'
import { withDeadline } from '../../lib/abort.ts'
import { createOutage, type OutageLog } from '../../lib/outage.ts'
import { type Embedder, EmbedderError } from '../../models/embedder.ts'
import { BYTES_PER_TOKEN } from '../../models/token-estimate.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { Embeddings, EmbeddingsRequest } from '../../schemas/openai/embeddings.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import type { ChunkVectors, DocumentStore } from '../../stores/document-store.ts'

/** If a query's vector takes longer than this, the query is answered by keyword search alone. */
const QUERY_MS = 2_000

interface Dependencies {
  embedder: Embedder
  log: OutageLog
  now?: () => number
}

export type Embedding = ReturnType<typeof createEmbedding>

/** Wraps the embedder to track its outages, so that nothing waits for one that is down. */
export function createEmbedding({ embedder, log, now = Date.now }: Dependencies) {
  const outage = createOutage({
    name: 'the embedding model',
    consequence: 'vectors are made later, search goes by words alone',
    isOutage: (error) => error instanceof EmbedderError && error.kind !== 'refused',
    ...{ now, log },
  })
  const late = () =>
    new EmbedderError('unavailable', `The embedding model did not answer within ${QUERY_MS} ms`)
  const ask = (text: string, signal?: AbortSignal) =>
    outage.run(() =>
      withDeadline(QUERY_MS, (stop) => embedder.embedQuery(text, stop), late, signal),
    )

  return {
    kind: embedder.kind,
    model: embedder.name,
    /** The vectors of chunks, in order. Throws `EmbedderError`, at once while the embedder is down. */
    async documents(chunks: readonly ChunkText[], signal: AbortSignal): Promise<ChunkVectors> {
      const texts = chunks.map(toEmbeddedText)
      const vectors = await outage.run(() => embedder.embedDocuments(texts, signal))
      return { model: embedder.name, ...joinVectors(vectors) }
    },

    /** The vector of a query; undefined if the embedder fails or is too slow. Throws the reason of `signal`. */
    async query(text: string, signal?: AbortSignal) {
      try {
        return await ask(text, signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof EmbedderError)) throw error
        return undefined
      }
    },

    /** How long to leave the embedder alone, in milliseconds; 0 while it works. */
    pauseMs: outage.pauseMs,
    /** For readiness: throws AppError `upstream_failed` if the embedder is down. Never starts the built-in one. */
    check: (signal: AbortSignal) =>
      outage.check(async () => {
        if (embedder.kind === 'remote') await ask('ready', signal)
        else if (outage.isDown()) throw new EmbedderError('unavailable', 'It does not work')
      }),
    close: () => embedder.close?.(),
  }
}

/** Documents are never re-embedded unasked: it takes time and may cost money. */
const REMEDY =
  'run npm run re-embed with the server stopped (or let the server do it: EMBEDDING_MODEL_NEXT, or the page Models of the screen)'

/**
 * The dimension that new vectors must have, or undefined if there are no vectors yet. Throws an Error that names the
 * remedy if the stored vectors were not made by `model`.
 */
export async function checkEmbedding(
  store: Pick<DocumentStore, 'embedding' | 'vectorKeys'>,
  model: string,
): Promise<number | undefined> {
  const kept = await store.embedding()
  if (!kept || (await store.vectorKeys()).length === 0) return undefined
  if (kept.model === model) return kept.dimension
  throw new Error(
    `The documents were embedded with "${kept.model}", but EMBEDDING_MODEL is "${model}": set it back, or ${REMEDY}`,
  )
}

/** How long startup waits for the embedder; one that is down then is checked later. */
const START_MS = 5_000

/** Throws an Error that names the remedy if the embedder's vectors differ in dimension from the stored ones. */
export async function checkDimension(embedder: Embedder): Promise<void> {
  try {
    await embedder.embedQuery('dimension', AbortSignal.timeout(START_MS))
  } catch (error) {
    if (error instanceof EmbedderError && error.kind === 'changed') throw new Error(error.message)
  }
}

/** The most informative parts come first, because text that is too long is cut at its end. */
export function toEmbeddedText({ title, heading, text }: ChunkText): string {
  return [title, heading, text].filter(Boolean).join('\n')
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

/** Embeds text for clients with the model that is used for the documents, if there is one. */
export function createEmbeddings(embedding: Pick<Embedding, 'documents'> | undefined) {
  return async (
    { input, encoding_format: format }: EmbeddingsRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Embeddings> => {
    if (!embedding) {
      throw refusal(
        'model',
        'there is none: this server has no embedding model, set EMBEDDING_MODEL',
      )
    }
    await caller.verify(true)
    const texts = [input].flat()
    const chunks = texts.map((text) => ({ title: '', heading: '', text }))
    const { model, dimension, values } = await embedding.documents(chunks, signal).catch(explain)
    caller.spend(Math.ceil(Buffer.byteLength(texts.join('')) / BYTES_PER_TOKEN))
    const vectors = texts.map((_text, index) =>
      values.subarray(index * dimension, (index + 1) * dimension),
    )
    const encode = (vector: Float32Array<ArrayBuffer>) =>
      format === 'base64'
        ? Buffer.from(new Uint8Array(vector.slice().buffer)).toString('base64')
        : [...vector]
    return {
      ...{ object: 'list', model },
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: encode(vector),
      })),
      usage: { prompt_tokens: 0, total_tokens: 0 },
    }
  }
}

function explain(error: unknown): never {
  if (!(error instanceof EmbedderError)) throw error
  if (error.kind === 'refused') throw refusal('input', error.message)
  throw new AppError('upstream_failed', error.message, { cause: error })
}
