import { setTimeout as pause } from 'node:timers/promises'
import { type Reranker, RerankerError } from '../reranker.ts'
import { isTooLong } from './embedding-failure.ts'
import { explainFailure, type UpstreamNames } from './explain-failure.ts'
import type { ModelLog } from './model-log.ts'
import { createRedactor } from './redact.ts'
import {
  type RerankDialect,
  type RerankQuestion,
  type RerankServer,
  requestRelevance,
  wantsTexts,
} from './rerank-request.ts'
import { retryDelay } from './retry-policy.ts'
import { toUpstreamFailure, type UpstreamFailure } from './upstream-failure.ts'

/** UTF-16 code units of a question and of a text that are read: few models read more. */
const LONGEST_QUERY = 2_000
const LONGEST_TEXT = 8_000
/** A model that does not take a text of this length does not work. */
const SHORTEST_CUT = 500

const RERANK_MODEL: UpstreamNames = {
  upstream: 'reranking model',
  key: 'RERANK_API_KEY',
  model: 'RERANK_MODEL',
  baseUrl: 'RERANK_BASE_URL',
  path: '/rerank',
  input: 'passage',
}

interface RerankerOptions extends RerankServer {
  log?: ModelLog | undefined
}

/** A model behind any server with a `/rerank` endpoint: Cohere, Jina, Voyage, vLLM, Text Embeddings Inference. */
export function createOpenAiReranker({ log, ...server }: RerankerOptions): Reranker {
  const { model, apiKey } = server
  const explaining = { model, redact: createRedactor(apiKey), names: RERANK_MODEL }
  // Found out from refusals, then kept.
  let dialect: RerankDialect = 'documents'
  let longest = LONGEST_TEXT

  const attempt = ({ query, texts }: RerankQuestion, signal: AbortSignal) => {
    const cut = texts.map((text) => text.slice(0, longest))
    const question = { query: query.slice(0, Math.min(longest, LONGEST_QUERY)), texts: cut }
    return requestRelevance(server, question, dialect, signal)
  }

  /** Whether what was asked can be asked in a way that the server takes. */
  const adapt = (failure: UpstreamFailure): boolean => {
    if (dialect === 'documents' && wantsTexts(failure)) {
      dialect = 'texts'
      return true
    }
    if (!isTooLong(failure) || longest <= SHORTEST_CUT) return false
    longest = Math.ceil(longest / 2)
    return true
  }

  const waitAfter = async (failure: UpstreamFailure, retries: number, signal: AbortSignal) => {
    const wait = retryDelay(failure, retries)
    if (wait === undefined) {
      const { message, cause } = explainFailure(failure, explaining)
      throw new RerankerError(message, { cause })
    }
    const { kind, status } = failure.facts
    log?.warn({ kind, status, retry: retries + 1, wait }, 'The reranking model is asked again')
    await pause(wait, undefined, { signal }).catch(() => signal.throwIfAborted())
  }

  return {
    name: model,
    async rerank(query, texts, signal) {
      signal.throwIfAborted()
      if (texts.length === 0) return []
      for (let retries = 0; ; ) {
        try {
          return await attempt({ query, texts }, signal)
        } catch (error) {
          signal.throwIfAborted()
          const failure = toUpstreamFailure(error)
          if (!adapt(failure)) await waitAfter(failure, retries++, signal)
        }
      }
    },
  }
}
