import { AppError } from '@agent-server/lib/errors.ts'
import { EmbedderError, estimateTokens } from '@agent-server/models'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { Payment } from '@agent-server/wire'
import type { Embedding } from '../services.ts'
import type { Embeddings, EmbeddingsRequest } from './schema.ts'

/** Limit of all texts of a request: OpenAI's 300,000 tokens, with room for languages that take more characters. */
const MAX_CHARACTERS = 2_000_000

interface EmbeddingRequest {
  texts: readonly string[]
  /** What the client expects: refused if the model has others. */
  dimensions?: number | null | undefined
}

/** Embeds text for clients with the model that is used for the documents, if there is one. */
export function createEmbeddings(
  embedding: Embedding | undefined,
  payment: Pick<Payment, 'meter'>,
) {
  return async ({ texts, dimensions }: EmbeddingRequest, caller: Caller, signal: AbortSignal) => {
    if (!embedding) {
      throw refusal(
        'model',
        'is not available: this server has no embedding model. Set EMBEDDING_MODEL.',
      )
    }
    const characters = texts.reduce((sum, { length }) => sum + length, 0)
    if (characters > MAX_CHARACTERS) {
      throw refusal('input', 'must be at most 2,000,000 characters in all: send several requests')
    }
    const whole = texts.join('')
    const tokens = estimateTokens(whole)
    const sentBytes = Buffer.byteLength(whole)
    const usage = { promptTokens: tokens, completionTokens: 0 }
    const call = { usage, sentBytes, receivedBytes: 0 }
    const modelCall = { model: embedding.model, sentBytes, maxTokens: 0 }
    const end = await payment.meter(caller).begin(modelCall, signal)
    const chunks = texts.map((text) => ({ title: '', heading: '', text }))
    const { model, dimension, values } = await embedding
      .documents(chunks, signal, shareOf(caller))
      .catch(async (error) => {
        // The model may have read the texts of a request that is given up.
        await end(signal.aborted ? call : undefined)
        return explain(error)
      })
    await end(call)
    if (dimensions && dimensions !== dimension) {
      throw refusal('dimensions', `must be ${dimension}, which the model determines`)
    }
    const vectors = texts.map((_text, index) =>
      values.subarray(index * dimension, (index + 1) * dimension),
    )
    return { model, vectors, tokens }
  }
}

/** Vectors as OpenAI's protocol has them. */
export function toEmbeddings(
  { model, vectors, tokens }: Awaited<ReturnType<ReturnType<typeof createEmbeddings>>>,
  format: EmbeddingsRequest['encoding_format'],
): Embeddings {
  const encode = (vector: Float32Array<ArrayBuffer>) =>
    format === 'base64'
      ? Buffer.from(new Uint8Array(vector.slice().buffer)).toString('base64')
      : [...vector]
  return {
    object: 'list',
    model,
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encode(vector),
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

function explain(error: unknown): never {
  if (!(error instanceof EmbedderError)) throw error
  const [position] = error.positions ?? []
  if (error.kind === 'refused') {
    throw refusal(position === undefined ? 'input' : `input.${position}`, error.message)
  }
  throw new AppError('upstream_failed', error.message, { cause: error })
}
