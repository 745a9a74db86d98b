import { requestJson } from './json-request.ts'
import { readEmbeddings } from './read-embeddings.ts'

/** A request that takes longer is given up. */
const DEADLINE_MILLISECONDS = 60_000
/** A batch of 32 vectors of 4,096 numbers takes a tenth of it. */
const MOST_ANSWER_BYTES = 32 * 2 ** 20

export interface EmbeddingServer {
  apiKey: string
  /** The address before `/embeddings`. */
  baseUrl: string
  model: string
}

/** One request, tried once: a unit vector per text. Throws UpstreamFailure, or what `signal` was aborted with. */
export async function requestEmbeddings(
  { apiKey, baseUrl, model }: EmbeddingServer,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array<ArrayBuffer>[]> {
  const answer = await requestJson(
    {
      ...{ apiKey, baseUrl, path: '/embeddings' },
      body: { model, input: texts, encoding_format: 'float' },
      deadlineMilliseconds: DEADLINE_MILLISECONDS,
      mostAnswerBytes: MOST_ANSWER_BYTES,
    },
    signal,
  )
  return readEmbeddings(answer, texts.length)
}
