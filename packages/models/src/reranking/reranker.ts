import { batched } from '@agent-server/lib/batches.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { isObject, objectOf, parseJson } from '@agent-server/lib/text/json.ts'
import { type Reranker, RerankerError } from '../reranker.ts'
import { askJson, type ModelServer, readAnswerText } from '../upstream/connection.ts'
import { explainFailure, RERANK_MODEL } from '../upstream/explain-failure.ts'
import {
  askRepeatedly,
  failureInStream,
  type UpstreamFailure,
  unreadable,
} from '../upstream/failures.ts'
import { isTooLong } from '../upstream/too-long.ts'

/** UTF-16 code units of a question and of a text that are sent: few models read more. */
const MAX_QUERY = 2_000
const MAX_TEXT = 8_000
/** Texts are not cut shorter than this: a model that rejects even these does not work. */
const MIN_TEXT = 500

interface RerankerOptions extends RerankServer {
  log?: Pick<Log, 'warn'> | undefined
}

/**
 * A model behind any server with a `/rerank` endpoint: Cohere, Jina, Voyage, vLLM, Text Embeddings Inference, llama.cpp.
 */
export function createOpenAiReranker({ log, ...server }: RerankerOptions): Reranker {
  const { model, apiKey } = server
  // Learned from refusals and kept for all later calls.
  let request = askForDocuments
  let longest = MAX_TEXT
  let givesLogits = false
  /** Most servers answer relevance from 0 to 1; llama.cpp answers the model's logits. */
  const toRelevance = (scores: number[]) => {
    givesLogits ||= scores.some((score) => score < 0 || score > 1)
    return givesLogits ? scores.map((score) => 1 / (1 + Math.exp(-score))) : scores
  }

  return {
    name: model,
    scores: 'relevance',
    async rerank({ query, texts }, signal) {
      signal.throwIfAborted()
      if (texts.length === 0) return []
      /** How this call was last sent; concurrent calls that were refused may have changed `request` and `longest`. */
      let tried = { request, longest }
      const ask = () => {
        tried = { request, longest }
        const cut = texts.map((text) => text.slice(0, longest))
        return request(server, query.slice(0, Math.min(longest, MAX_QUERY)), cut, signal)
      }
      /** Whether the call can be retried in a way that the server may accept. */
      const adapt = (failure: UpstreamFailure): boolean => {
        if (tried.request === askForDocuments && wantsTexts(failure)) {
          request = askForTexts
          return true
        }
        if (!isTooLong(failure.facts) || tried.longest <= MIN_TEXT) return false
        longest = Math.min(longest, Math.ceil(tried.longest / 2))
        return true
      }
      try {
        const options = { upstream: RERANK_MODEL.upstream, log, adapt }
        return toRelevance(await askRepeatedly(ask, options, signal))
      } catch (error) {
        signal.throwIfAborted()
        const { message, cause } = explainFailure(error, { names: RERANK_MODEL, model, apiKey })
        throw new RerankerError(message, { cause })
      }
    },
  }
}

/** Deadline of one request; callers usually give up earlier. */
const DEADLINE_MS = 30_000
/** Ten times the size of a hundred results with their texts, which some servers send back. */
const MAX_ANSWER_BYTES = 4 * 2 ** 20
/** Default maximum of texts per request in Text Embeddings Inference. */
const MAX_TEXTS = 32

interface RerankServer extends ModelServer {
  model: string
}

/** Requests a score per text from a server that expects `documents`. Throws UpstreamFailure or the abort reason. */
function askForDocuments(
  server: RerankServer,
  query: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[]> {
  const body = { model: server.model, query, documents: texts, top_n: texts.length }
  return send(server, body, texts.length, signal)
}

/** Like `askForDocuments`, for Text Embeddings Inference, in parallel requests if there are many texts. */
async function askForTexts(
  server: RerankServer,
  query: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[]> {
  const scores = await Promise.all(
    Array.from(batched(texts, MAX_TEXTS), (part) => {
      const body = { query, texts: part, truncate: true }
      return send(server, body, part.length, signal)
    }),
  )
  return scores.flat()
}

/** Whether the server is Text Embeddings Inference, which complains about its missing field `texts`. */
function wantsTexts({ facts }: UpstreamFailure): boolean {
  return [400, 422].includes(facts.status ?? 0) && /\btexts\b/.test(facts.rawMessage ?? '')
}

async function send(
  server: RerankServer,
  body: object,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  const ask = (stop: AbortSignal) => askJson(server, '/rerank', body, stop)
  const bounds = { deadlineMs: DEADLINE_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
  const answer = await readAnswerText(ask, bounds, signal)
  return readRelevance(answer, count)
}

/**
 * Reads the scores of `count` texts, in their order, from any of the formats in use: Cohere, Jina and vLLM
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
