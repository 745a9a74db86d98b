import { setImmediate as endOfTurn } from 'node:timers/promises'
import { createCoalescingQueue, type Queued } from '@agent-server/lib/coalesce.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import { EMBEDDING_MODEL, explainFailure } from '../upstream/explain-failure.ts'
import { askRepeatedly, toUpstreamFailure, type UpstreamFailure } from '../upstream/failures.ts'
import { isTooLong } from '../upstream/too-long.ts'
import {
  type EmbeddingServer,
  mayBeOfText,
  requestEmbeddings,
  UNUSABLE_VECTOR,
  type Vector,
} from './embedding-request.ts'

/** Limits of one request. 32 is the default maximum of texts in Text Embeddings Inference. */
const MAX_TEXTS = 32
const MAX_CHARACTERS = 64_000
/** Maximum number of requests for documents in flight. */
const MAX_REQUESTS = 4
/** Maximum UTF-16 code units of a question: no known model reads more. */
const MAX_QUERY = 8_000

interface EmbedderOptions extends EmbeddingServer {
  /** The dimension of the vectors already stored; a model with another one is rejected. */
  dimension?: number | undefined
  log?: Pick<Log, 'warn'> | undefined
}

interface SentText {
  text: string
  sender: string | undefined
}

/** A model behind any server with an `/embeddings` endpoint like OpenAI's. */
export function createOpenAiEmbedder({
  log,
  dimension: kept,
  ...server
}: EmbedderOptions): Embedder {
  const prefixes = prefixesOf(server.model)
  const { upstream } = EMBEDDING_MODEL
  let dimension = kept

  const attempt: Attempt = async (texts, signal) => {
    try {
      const ask = () => requestEmbeddings(server, [...texts], signal)
      const vectors = await askRepeatedly(ask, { upstream, log }, signal)
      const length = vectors[0]?.length
      dimension ??= length
      return length === dimension ? vectors : changed(server.model, length, dimension)
    } catch (error) {
      signal.throwIfAborted()
      return toUpstreamFailure(error)
    }
  }
  const embedEach = createEmbedEach(attempt, server)

  const work = async (batch: readonly Queued<SentText, Vector>[]) => {
    const texts = batch.map(({ input }) => input.text)
    const results = await whileWaitedFor(batch, (signal) => embedEach.all(texts, signal))
    for (const [position, { resolve, reject }] of batch.entries()) {
      const result = results[position]
      if (result instanceof Float32Array) resolve(result)
      else reject(result)
    }
  }
  const request = {
    work,
    weightOf: ({ text }: SentText) => text.length,
    ownerOf: ({ sender }: SentText) => sender,
    maxWeight: MAX_CHARACTERS,
    maxCount: MAX_TEXTS,
  }
  // Texts submitted at the same time, and those that are queued, share requests.
  const documents = createCoalescingQueue({ ...request, concurrency: MAX_REQUESTS })
  // Questions never wait for each other; those of the same turn of the event loop share a request.
  const questions = createCoalescingQueue({
    ...request,
    concurrency: Number.POSITIVE_INFINITY,
    gather: () => endOfTurn(),
  })

  return {
    kind: 'remote',
    name: server.model,
    get dimension() {
      return dimension
    },
    embedDocuments: (texts, signal, sender) =>
      Promise.all(
        texts.map((text) => documents.submit({ text: prefixes.document + text, sender }, signal)),
      ),
    embedQuery: (text, signal, sender) =>
      questions.submit({ text: prefixes.query + text.slice(0, MAX_QUERY), sender }, signal),
  }
}

function changed(model: string, actual: number | undefined, storedDimension: number | undefined) {
  return new EmbedderError(
    'changed',
    `The embedding model "${model}" returns vectors of ${actual} dimensions, but the stored ones have ${storedDimension}: change EMBEDDING_MODEL back, or stop the server and run npm run re-embed`,
  )
}

/** Does `work` with a signal that is aborted when nobody waits for any item of the batch any more. */
async function whileWaitedFor<Result>(
  batch: readonly { signal: AbortSignal | undefined }[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abandoned = new AbortController()
  const finished = new AbortController()
  const look = () => {
    if (batch.every(({ signal }) => signal?.aborted)) abandoned.abort(batch[0]?.signal?.reason)
  }
  for (const signal of new Set(batch.map((each) => each.signal))) {
    signal?.addEventListener('abort', look, { signal: finished.signal })
  }
  try {
    return await work(abandoned.signal)
  } finally {
    finished.abort()
  }
}

/** How often a text that is too long for the model is halved. */
const MAX_CUTS = 8
/** Every working model accepts this text. */
const PLAIN_TEXT = 'text'

/** Returns a vector per text, after retries, or the reason for there being none. Throws only the abort reason. */
type Attempt = (
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<Vector[] | EmbedderError | UpstreamFailure>

type Result = Vector | EmbedderError

/** Finds the texts that are at fault when a call fails, and shortens those that are too long. */
function createEmbedEach(attempt: Attempt, { model, apiKey }: EmbeddingServer) {
  const toError = (kind: EmbedderError['kind'], failure: UpstreamFailure) => {
    const { message, cause } = explainFailure(failure, { names: EMBEDDING_MODEL, model, apiKey })
    const isUnusable = failure.facts.code === UNUSABLE_VECTOR
    const reason = isUnusable ? 'The embedding model returned no usable vector' : message
    return new EmbedderError(kind, reason, { cause })
  }

  /** Blames the text, unless the model fails for a plain text as well. */
  const blame = async (failure: UpstreamFailure, signal: AbortSignal) => {
    const works = mayBeOfText(failure.facts) && Array.isArray(await attempt([PLAIN_TEXT], signal))
    return toError(works ? 'refused' : 'unavailable', failure)
  }

  const one = async (text: string, signal: AbortSignal, cuts = 0): Promise<Result> => {
    const outcome = await attempt([text], signal)
    if (outcome instanceof EmbedderError) return outcome
    if (Array.isArray(outcome)) return outcome[0] ?? new EmbedderError('unavailable', 'No vector')
    if (!isTooLong(outcome.facts) || cuts === MAX_CUTS) return blame(outcome, signal)
    return one(firstHalf(text), signal, cuts + 1)
  }

  const inTurn = async (texts: readonly string[], signal: AbortSignal): Promise<Result[]> => {
    const results: Result[] = []
    for (const text of texts) {
      const last = results.at(-1)
      const isDown = last instanceof EmbedderError && last.kind !== 'refused'
      results.push(isDown ? last : await one(text, signal))
    }
    return results
  }

  return {
    one,
    /** A vector or an error per text: a rejected text fails alone. Throws only the abort reason of `signal`. */
    async all(texts: readonly string[], signal: AbortSignal): Promise<Result[]> {
      if (texts.length === 1) return inTurn(texts, signal)
      const outcome = await attempt(texts, signal)
      if (Array.isArray(outcome)) return outcome
      if (outcome instanceof EmbedderError) return texts.map(() => outcome)
      if (mayBeOfText(outcome.facts)) return inTurn(texts, signal)
      const error = toError('unavailable', outcome)
      return texts.map(() => error)
    },
  }
}

/** The first half of a text, without splitting a surrogate pair. */
function firstHalf(text: string): string {
  const middle = Math.ceil(text.length / 2)
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(middle - 1))
  return text.slice(0, splits ? middle - 1 : middle)
}

interface Prefixes {
  query: string
  document: string
}

const NO_PREFIXES: Prefixes = { query: '', document: '' }
const BGE_QUERY = 'Represent this sentence for searching relevant passages: '
const INSTRUCT =
  'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: '

/**
 * The prefixes with which models were trained, by name, from their cards at https://huggingface.co/<owner>/<name>.
 * The first match counts; without a match there is no prefix.
 */
const BY_NAME: readonly (readonly [pattern: RegExp, prefixes: Prefixes])[] = [
  // intfloat/multilingual-e5-large-instruct, intfloat/e5-mistral-7b-instruct
  [/\be5\b.*instruct/, { query: INSTRUCT, document: '' }],
  // intfloat/e5-small-v2, intfloat/multilingual-e5-base
  [/\be5\b/, { query: 'query: ', document: 'passage: ' }],
  // nomic-ai/nomic-embed-text-v1.5, nomic-ai/nomic-embed-text-v2-moe
  [/nomic-embed-text/, { query: 'search_query: ', document: 'search_document: ' }],
  // BAAI/bge-small-zh-v1.5
  [
    /\bbge-(?:small|base|large)-zh/,
    { query: '为这个句子生成表示以用于检索相关文章：', document: '' },
  ],
  // BAAI/bge-base-en-v1.5; Ollama's names omit the language. BAAI/bge-m3 needs no prefix.
  [/\bbge-(?:small|base|large)/, { query: BGE_QUERY, document: '' }],
  // mixedbread-ai/mxbai-embed-large-v1
  [/mxbai-embed/, { query: BGE_QUERY, document: '' }],
  // Snowflake/snowflake-arctic-embed-l-v2.0, snowflake-arctic-embed2 in Ollama
  [/arctic-embed(?:2|.*v2)/, { query: 'query: ', document: '' }],
  // Snowflake/snowflake-arctic-embed-m-v1.5
  [/arctic-embed/, { query: BGE_QUERY, document: '' }],
  // google/embeddinggemma-300m
  [/embeddinggemma/, { query: 'task: search result | query: ', document: 'title: none | text: ' }],
  // Qwen/Qwen3-Embedding-0.6B
  [/qwen3-embedding/, { query: INSTRUCT, document: '' }],
]

function prefixesOf(model: string): Prefixes {
  const name = model.toLowerCase()
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? NO_PREFIXES
}
