import { type Embedder, EmbedderError } from '../embedder.ts'
import {
  EMBEDDING_MODEL,
  type EmbeddingServer,
  isRefusal,
  isTooLong,
  mayBeOfText,
  requestEmbeddings,
  toEmbedderError,
} from './embedding-request.ts'
import type { Explaining } from './explain-failure.ts'
import {
  createRedactor,
  type ModelLog,
  toUpstreamFailure,
  type UpstreamFailure,
  waitForRetry,
} from './failures.ts'
import { createTextBatches } from './text-batches.ts'

/** No model that is known reads more of a question than this, and few that much. */
const MAX_QUERY = 8_000

/** A model behind any server with an `/embeddings` endpoint like OpenAI's. */
export function createOpenAiEmbedder(options: EmbedderOptions): Embedder {
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
      const result = await embedEach.one(prefixes.query + text.slice(0, MAX_QUERY), signal)
      if (result instanceof Error) throw result
      return result
    },
  }
}

/** How often a text that is too long for the model is cut in half. */
const MAX_CUTS = 8
/** Any model embeds this; one that refuses it does not work at all. */
const PLAIN_TEXT = 'text'

type Result = Float32Array<ArrayBuffer> | EmbedderError

interface EmbedEach {
  /** A vector or an error per text: one that the model refuses fails alone. Throws only what `signal` was aborted with. */
  all(texts: readonly string[], signal: AbortSignal): Promise<Result[]>
  one(text: string, signal: AbortSignal): Promise<Result>
}

/** Finds out which text is at fault when a call fails, and shortens those that are too long. */
function createEmbedEach(call: EmbeddingCalls['call'], explaining: Explaining): EmbedEach {
  const toError = (kind: EmbedderError['kind'], failure: UpstreamFailure) =>
    toEmbedderError(kind, failure, explaining)

  const attempt = async (texts: readonly string[], signal: AbortSignal) => {
    try {
      return await call(texts, signal)
    } catch (error) {
      signal.throwIfAborted()
      return error instanceof EmbedderError ? error : toUpstreamFailure(error)
    }
  }

  /** The text's own fault, unless the model does not even embed a plain one. */
  const blame = async (failure: UpstreamFailure, signal: AbortSignal) => {
    const works = mayBeOfText(failure) && Array.isArray(await attempt([PLAIN_TEXT], signal))
    return toError(works ? 'refused' : 'unavailable', failure)
  }

  const one = async (text: string, signal: AbortSignal, cuts = 0): Promise<Result> => {
    const outcome = await attempt([text], signal)
    if (outcome instanceof EmbedderError) return outcome
    if (Array.isArray(outcome)) return outcome[0] ?? new EmbedderError('unavailable', 'No vector')
    if (!isTooLong(outcome) || cuts === MAX_CUTS) return blame(outcome, signal)
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
    async all(texts, signal) {
      if (texts.length === 1) return inTurn(texts, signal)
      const outcome = await attempt(texts, signal)
      if (Array.isArray(outcome)) return outcome
      if (outcome instanceof EmbedderError) return texts.map(() => outcome)
      if (mayBeOfText(outcome)) return inTurn(texts, signal)
      const error = toError('unavailable', outcome)
      return texts.map(() => error)
    },
  }
}

/** Never half a character. */
function firstHalf(text: string): string {
  const middle = Math.ceil(text.length / 2)
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(middle - 1))
  return text.slice(0, splits ? middle - 1 : middle)
}

interface EmbedderOptions extends EmbeddingServer {
  /** The dimension of the vectors that are kept already; a model that answers with another one is refused. */
  dimension?: number | undefined
  log?: ModelLog | undefined
}

interface EmbeddingCalls {
  /** Known from the first answer on. */
  readonly dimension: number | undefined
  /** A unit vector per text, asked for again where that may help. Throws UpstreamFailure, EmbedderError `changed`, or what `signal` was aborted with. */
  call(texts: readonly string[], signal: AbortSignal): Promise<Float32Array<ArrayBuffer>[]>
}

function createEmbeddingCalls({ log, ...options }: EmbedderOptions): EmbeddingCalls {
  let { dimension } = options

  const check = (found: number | undefined) => {
    dimension ??= found
    if (found === dimension) return
    throw new EmbedderError(
      'changed',
      `The embedding model "${options.model}" gives vectors of ${found} numbers, but those kept have ${dimension}: set EMBEDDING_MODEL back, or run npm run re-embed with the server stopped`,
    )
  }

  const request = async (texts: readonly string[], signal: AbortSignal) => {
    for (let retries = 0; ; retries++) {
      try {
        return await requestEmbeddings(options, texts, signal)
      } catch (error) {
        signal.throwIfAborted()
        const failure = toUpstreamFailure(error)
        const retrying = { log, upstream: 'embedding model' }
        const goesOn =
          !isRefusal(failure) && (await waitForRetry(failure, retries, retrying, signal))
        if (!goesOn) throw failure
      }
    }
  }

  return {
    get dimension() {
      return dimension
    },
    async call(texts, signal) {
      const vectors = await request(texts, signal)
      check(vectors[0]?.length)
      return vectors
    },
  }
}

interface Prefixes {
  query: string
  document: string
}

const NO_PREFIXES: Prefixes = { query: '', document: '' }
const SEARCH_PASSAGES = 'Represent this sentence for searching relevant passages: '
const INSTRUCT =
  'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: '

/**
 * What models were trained to see before a text, by name, from their cards at https://huggingface.co/<owner>/<name>.
 * The first match counts; a model without one is given the text as it is.
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
  // BAAI/bge-base-en-v1.5; Ollama leaves the language out. BAAI/bge-m3 takes none.
  [/\bbge-(?:small|base|large)/, { query: SEARCH_PASSAGES, document: '' }],
  // mixedbread-ai/mxbai-embed-large-v1
  [/mxbai-embed/, { query: SEARCH_PASSAGES, document: '' }],
  // Snowflake/snowflake-arctic-embed-l-v2.0, snowflake-arctic-embed2 in Ollama
  [/arctic-embed(?:2|.*v2)/, { query: 'query: ', document: '' }],
  // Snowflake/snowflake-arctic-embed-m-v1.5
  [/arctic-embed/, { query: SEARCH_PASSAGES, document: '' }],
  // google/embeddinggemma-300m
  [/embeddinggemma/, { query: 'task: search result | query: ', document: 'title: none | text: ' }],
  // Qwen/Qwen3-Embedding-0.6B
  [/qwen3-embedding/, { query: INSTRUCT, document: '' }],
]

function prefixesOf(model: string): Prefixes {
  const name = model.toLowerCase()
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? NO_PREFIXES
}
