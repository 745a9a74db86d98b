import { requestJson } from './json-request.ts'
import { readRelevance } from './read-relevance.ts'
import type { UpstreamFailure } from './upstream-failure.ts'

/** A request that takes longer is given up; whoever asks has less patience. */
const DEADLINE_MILLISECONDS = 30_000
/** A hundred results with their texts, which some servers send back, take a tenth of it. */
const MOST_ANSWER_BYTES = 4 * 2 ** 20
/** Text Embeddings Inference takes no more texts at once unless it is told to. */
const MOST_TEXTS = 32

export interface RerankServer {
  apiKey: string
  /** The address before `/rerank`. */
  baseUrl: string
  model: string
}

export interface RerankQuestion {
  query: string
  texts: readonly string[]
}

/** What a server wants the list of texts to be called. */
export type RerankDialect = 'documents' | 'texts'

/** One request, or some side by side, tried once: a score per text. Throws UpstreamFailure, or what `signal` was aborted with. */
export async function requestRelevance(
  server: RerankServer,
  question: RerankQuestion,
  dialect: RerankDialect,
  signal: AbortSignal,
): Promise<number[]> {
  if (dialect === 'documents') return send(server, toDocuments(server, question), question, signal)
  const scores = await Promise.all(
    inParts(question).map((part) => send(server, toTexts(part), part, signal)),
  )
  return scores.flat()
}

/** Whether Text Embeddings Inference answers, which misses the field that it calls `texts`. */
export function wantsTexts({ facts }: UpstreamFailure): boolean {
  return [400, 422].includes(facts.status ?? 0) && /\btexts\b/.test(facts.words ?? '')
}

async function send(
  { apiKey, baseUrl }: RerankServer,
  body: object,
  { texts }: RerankQuestion,
  signal: AbortSignal,
): Promise<number[]> {
  const answer = await requestJson(
    {
      ...{ apiKey, baseUrl, path: '/rerank', body },
      deadlineMilliseconds: DEADLINE_MILLISECONDS,
      mostAnswerBytes: MOST_ANSWER_BYTES,
    },
    signal,
  )
  return readRelevance(answer, texts.length)
}

function toDocuments({ model }: RerankServer, { query, texts }: RerankQuestion): object {
  return { model, query, documents: texts, top_n: texts.length }
}

function toTexts({ query, texts }: RerankQuestion): object {
  return { query, texts, truncate: true }
}

function inParts({ query, texts }: RerankQuestion): RerankQuestion[] {
  const parts: RerankQuestion[] = []
  for (let from = 0; from < texts.length; from += MOST_TEXTS) {
    parts.push({ query, texts: texts.slice(from, from + MOST_TEXTS) })
  }
  return parts
}
