import { type Reranker, RerankerError } from '../reranker.ts'
import { type ModelServer, requestJson } from './connection.ts'
import { explainFailure, RERANK_MODEL } from './explain-failure.ts'
import {
  askRepeatedly,
  failureInStream,
  isTooLong,
  type ModelLog,
  type UpstreamFailure,
  unreadable,
} from './failures.ts'
import { isObject, objectOf, parseJson } from './json.ts'

/** UTF-16 code units of a question and of a text that are read: few models read more. */
const MAX_QUERY = 2_000
const MAX_TEXT = 8_000
/** A model that does not take a text of this length does not work. */
const MIN_TEXT = 500

interface RerankerOptions extends RerankServer {
  log?: ModelLog | undefined
}

/** A model behind any server with a `/rerank` endpoint: Cohere, Jina, Voyage, vLLM, Text Embeddings Inference. */
export function createOpenAiReranker({ log, ...server }: RerankerOptions): Reranker {
  const { model, apiKey } = server
  // Found out from refusals, then kept.
  let textsField: TextsField = 'documents'
  let longest = MAX_TEXT

  /** Whether what was asked can be asked in a way that the server takes. */
  const adapt = (failure: UpstreamFailure): boolean => {
    if (textsField === 'documents' && wantsTexts(failure)) {
      textsField = 'texts'
      return true
    }
    if (!isTooLong(failure.facts) || longest <= MIN_TEXT) return false
    longest = Math.ceil(longest / 2)
    return true
  }

  return {
    name: model,
    async rerank(query, texts, signal) {
      signal.throwIfAborted()
      if (texts.length === 0) return []
      const ask = () => {
        const cut = texts.map((text) => text.slice(0, longest))
        const question = { query: query.slice(0, Math.min(longest, MAX_QUERY)), texts: cut }
        return requestRelevance(server, question, textsField, signal)
      }
      try {
        return await askRepeatedly(ask, { upstream: RERANK_MODEL.upstream, log, adapt }, signal)
      } catch (error) {
        signal.throwIfAborted()
        const { message, cause } = explainFailure(error, { names: RERANK_MODEL, model, apiKey })
        throw new RerankerError(message, { cause })
      }
    },
  }
}

/** A request that takes longer is given up; whoever asks gives up earlier. */
const DEADLINE_MS = 30_000
/** A hundred results with their texts, which some servers send back, take a tenth of it. */
const MAX_ANSWER_BYTES = 4 * 2 ** 20
/** Text Embeddings Inference takes no more texts at once unless it is configured to. */
const MAX_TEXTS = 32

interface RerankServer extends ModelServer {
  model: string
}

interface RerankQuestion {
  query: string
  texts: readonly string[]
}

/** What a server wants the list of texts to be called. */
type TextsField = 'documents' | 'texts'

/** One request, or some side by side, tried once: a score per text. Throws UpstreamFailure, or what `signal` was aborted with. */
async function requestRelevance(
  server: RerankServer,
  question: RerankQuestion,
  textsField: TextsField,
  signal: AbortSignal,
): Promise<number[]> {
  if (textsField === 'documents')
    return send(server, toDocuments(server, question), question, signal)
  const scores = await Promise.all(
    inParts(question).map((part) => send(server, toTexts(part), part, signal)),
  )
  return scores.flat()
}

/** Whether Text Embeddings Inference answers, which misses the field that it calls `texts`. */
function wantsTexts({ facts }: UpstreamFailure): boolean {
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
      deadlineMs: DEADLINE_MS,
      maxAnswerBytes: MAX_ANSWER_BYTES,
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
  for (let from = 0; from < texts.length; from += MAX_TEXTS) {
    parts.push({ query, texts: texts.slice(from, from + MAX_TEXTS) })
  }
  return parts
}

/**
 * The score of each of `count` texts, in their order, from any of the shapes in use: Cohere, Jina and vLLM
 * answer `{ results: [{ index, relevance_score }] }`, Voyage names the list `data`, and Text Embeddings
 * Inference answers a bare list of `{ index, score }`. Throws UpstreamFailure for anything else.
 */
function readRelevance(body: string, count: number): number[] {
  const answer = parseJson(body)
  if (isObject(answer) && answer.error !== undefined) throw failureInStream(answer.error)
  const { results, data } = objectOf(answer)
  const list = [answer, results, data].find((each) => Array.isArray(each))
  if (!list) throw unreadable('there is no list of results')

  const scores = new Array<number | undefined>(count).fill(undefined)
  for (const { index, relevance_score, score = relevance_score } of list.map(objectOf)) {
    if (typeof index !== 'number' || !(index in scores) || typeof score !== 'number') {
      throw unreadable('a result names no text or has no score')
    }
    scores[index] = score
  }
  return scores.map((score) => {
    if (score === undefined) throw unreadable(`${count} texts were not all given a score`)
    return score
  })
}
