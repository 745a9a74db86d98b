import type { Embedder } from '../embedder.ts'
import { createEmbedEach } from './embed-each.ts'
import { createEmbeddingCalls, type EmbeddingCallsOptions } from './embedding-calls.ts'
import { EMBEDDING_MODEL } from './embedding-failure.ts'
import { prefixesOf } from './embedding-prefixes.ts'
import { createRedactor } from './redact.ts'
import { createTextBatches } from './text-batches.ts'

/** No model that is known reads more of a question than this, and few that much. */
const LONGEST_QUERY = 8_000

/** A model behind any server with an `/embeddings` endpoint like OpenAI's. */
export function createOpenAiEmbedder(options: EmbeddingCallsOptions): Embedder {
  const { model, apiKey } = options
  const prefixes = prefixesOf(model)
  const calls = createEmbeddingCalls(options)
  const explaining = { model, redact: createRedactor(apiKey), names: EMBEDDING_MODEL }
  const embedEach = createEmbedEach(calls.call, explaining)
  const batches = createTextBatches(embedEach.all)

  return {
    name: model,
    get dimension() {
      return calls.dimension
    },
    embedDocuments: (texts, signal) =>
      batches.embed(
        texts.map((text) => prefixes.document + text),
        signal,
      ),
    async embedQuery(text, signal) {
      signal.throwIfAborted()
      const result = await embedEach.one(prefixes.query + text.slice(0, LONGEST_QUERY), signal)
      if (result instanceof Error) throw result
      return result
    },
  }
}
