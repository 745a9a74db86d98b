import { EmbedderError } from '../embedder.ts'
import { type Explaining, explainFailure, TOO_LONG, type UpstreamNames } from './explain-failure.ts'
import { UNUSABLE_VECTOR } from './read-embeddings.ts'
import type { UpstreamFailure } from './upstream-failure.ts'

export const EMBEDDING_MODEL: UpstreamNames = {
  upstream: 'embedding model',
  key: 'EMBEDDING_API_KEY',
  model: 'EMBEDDING_MODEL',
  baseUrl: 'EMBEDDING_BASE_URL',
  path: '/embeddings',
  input: 'text',
}

/** Whether the text is longer than the model's window. Ollama says so with status 400 or 500, Text Embeddings Inference with 413, llama.cpp with 500. */
export function isTooLong({ facts }: UpstreamFailure): boolean {
  if (facts.kind !== 'status') return false
  return facts.status === 413 || TOO_LONG.test(facts.words ?? '')
}

/** Whether asking the same again would be answered the same. */
export function isRefusal(failure: UpstreamFailure): boolean {
  const { kind, status = 0, code } = failure.facts
  if (code === UNUSABLE_VECTOR || isTooLong(failure)) return true
  return kind === 'status' && [400, 413, 422].includes(status)
}

/** Whether a text, and not the server, may be at fault: some servers fall over a text with status 500. */
export function mayBeOfText(failure: UpstreamFailure): boolean {
  return isRefusal(failure) || failure.facts.status === 500
}

/** The error that a caller is told. */
export function toEmbedderError(
  kind: EmbedderError['kind'],
  failure: UpstreamFailure,
  explaining: Explaining,
): EmbedderError {
  const { message, cause } = explainFailure(failure, explaining)
  const isUnusable = failure.facts.code === UNUSABLE_VECTOR
  return new EmbedderError(
    kind,
    isUnusable ? 'The embedding model gave no usable vector' : message,
    { cause },
  )
}
