import { AppError } from '../../errors.ts'
import { EmbedderError } from '../../models/embedder.ts'
import { BYTES_PER_TOKEN } from '../../models/token-estimate.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { Embeddings, EmbeddingsRequest } from '../../schemas/openai/embeddings.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import type { Embedding } from './embedding.ts'

/** Makes vectors for clients with the model that the documents are embedded with, if there is one. */
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
