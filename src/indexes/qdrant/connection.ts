import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { withDeadline } from '../../lib/abort.ts'
import { type Backoff, backoffMs, retryAfterOf } from '../../lib/backoff.ts'
import { readBoundedText } from '../../lib/bounded-body.ts'

const MAX_ATTEMPTS = 4
/** A server that asks to be left alone for longer than `maxMs` is reported instead of waited for. */
const BACKOFF = { firstMs: 130, maxMs: 3_000 }
/** A page of ten thousand keys takes 300 kB, four thousand matches as much. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

const Envelope = z.object({ result: z.unknown() })

export interface QdrantAddress {
  url: string
  apiKey?: string | undefined
  /** For one call with all its attempts, unless it says otherwise. */
  deadlineMs: number
  /** How long to wait between attempts. */
  backoff?: Backoff
}

interface QdrantRequest<Result> {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  path: string
  query?: Record<string, string>
  body?: unknown
  deadlineMs?: number
  /** What the answer's `result` must be. */
  result: z.ZodType<Result>
  /** The answer is the result itself. */
  bare?: boolean
}

/** An attempt that failed in a way that may pass. */
interface Failure {
  error: Error
  waitMs?: number | undefined
}

export type QdrantConnection = ReturnType<typeof connectToQdrant>

/** Plain calls to Qdrant's REST interface, typed by its own description; docs/dependencies.md says why its client is not used. */
export function connectToQdrant(address: QdrantAddress) {
  return {
    /**
     * Sends a request, again where that may help: none of ours does harm when it is done twice. Throws what
     * `signal` was aborted with, `index_unavailable`, or `QdrantRefusal`.
     */
    async call<Result>(request: QdrantRequest<Result>, signal?: AbortSignal): Promise<Result> {
      const { deadlineMs = address.deadlineMs } = request
      const late = (cause: unknown) =>
        unavailable(`The search index did not answer within ${deadlineMs / 1_000} s`, cause)
      const call = (limit: AbortSignal) => callUntilDone(address, request, limit)
      return withDeadline(deadlineMs, call, late, signal)
    },
  }
}

async function callUntilDone<Result>(
  address: QdrantAddress,
  request: QdrantRequest<Result>,
  limit: AbortSignal,
): Promise<Result> {
  const { backoff = BACKOFF } = address
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(address, request, limit)
    if ('result' in outcome) return outcome.result
    const wait = outcome.waitMs ?? backoffMs(attempt, backoff)
    if (attempt === MAX_ATTEMPTS || wait > backoff.maxMs) throw outcome.error
    await delay(wait, undefined, { signal: limit })
  }
}

async function send<Result>(
  { url, apiKey }: QdrantAddress,
  { method, path, query, body, result, bare }: QdrantRequest<Result>,
  signal: AbortSignal,
): Promise<{ result: Result } | Failure> {
  const target = new URL(path.replace(/^\//, ''), url.endsWith('/') ? url : `${url}/`)
  target.search = new URLSearchParams(query).toString()
  const headers = {
    ...(apiKey !== undefined && { 'api-key': apiKey }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const content = body !== undefined && { body: JSON.stringify(body) }
  try {
    const response = await fetch(target, { method, headers, signal, redirect: 'error', ...content })
    const text = await readBoundedText(response, MAX_ANSWER_BYTES)
    if (!response.ok) return failureOf(response, text)
    const answer = JSON.parse(text)
    return { result: result.parse(bare ? answer : Envelope.parse(answer).result) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof QdrantRefusal || error instanceof AppError) throw error
    // What `fetch` itself throws says that the connection failed; anything else, that the answer is none.
    const failed = error instanceof TypeError ? 'cannot be reached' : 'gives no proper answer'
    return { error: unavailable(`The search index ${failed}`, withoutKey(error, apiKey)) }
  }
}

function failureOf({ status, headers }: Response, text: string): Failure {
  const error = errorOf(status, text.slice(0, 500))
  if (!passes(status)) throw error
  return { error, waitMs: retryAfterOf(headers) }
}

/** `fetch` names a header that cannot be sent with its value. */
function withoutKey(error: unknown, apiKey: string | undefined): unknown {
  const isShown = apiKey !== undefined && error instanceof Error && error.message.includes(apiKey)
  return isShown ? new Error('the request could not be made') : error
}

const RETRY_AFTER_SECONDS = 5

/** Qdrant understood a request and will not do it, however often it is asked. Its words are for the log. */
export class QdrantRefusal extends Error {
  override readonly name = 'QdrantRefusal'
  readonly status: number

  constructor(status: number, words: string) {
    super(`Qdrant refused a request with status ${status}: ${words}`)
    this.status = status
  }
}

/** Qdrant cannot be used now; `message` is shown to the client. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('index_unavailable', message, { cause, retryAfter: RETRY_AFTER_SECONDS })
}

/** What an answer that is not a success means. */
function errorOf(status: number, words: string): Error {
  const refusal = new QdrantRefusal(status, words)
  if (status === 401 || status === 403) {
    return unavailable(
      'The search index refuses the key of this server: see QDRANT_API_KEY',
      refusal,
    )
  }
  if (status === 404) return unavailable('The search index lacks its collection', refusal)
  if (passes(status)) return unavailable('The search index does not work at the moment', refusal)
  return refusal
}

/** Whether the same request may succeed a moment later. */
function passes(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** The first that takes `memory` in the description of a collection. */
const LEAST = [1, 19] as const
const Version = z.object({ version: z.string() })

/** Throws where the server at the address is no Qdrant that this index can be kept in. */
export async function checkVersion(
  { call }: QdrantConnection,
  signal?: AbortSignal,
): Promise<void> {
  const { version } = await call({ method: 'GET', path: '/', result: Version, bare: true }, signal)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === LEAST[0] && minor >= LEAST[1]) return
  throw new Error(
    `Qdrant is of version ${version.slice(0, 20)}: this server needs ${LEAST.join('.')} or later, below ${LEAST[0] + 1}`,
  )
}
