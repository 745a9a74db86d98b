import { pause, settlesWithin, startDeadline } from '@agent-server/lib/abort.ts'
import { type Backoff, backoffMs, retryAfterOf } from '@agent-server/lib/backoff.ts'
import { readBoundedText } from '@agent-server/lib/bounded-body.ts'
import { AppError, SetupError } from '@agent-server/lib/errors.ts'
import { z } from 'zod'

const MAX_ATTEMPTS = 4
/** If a server asks for a wait longer than `maxMs`, the call fails instead of waiting. */
const BACKOFF = { firstMs: 130, maxMs: 3_000 }
/** Ample: a page of 10,000 keys takes about 300 kB, and so do 4,000 matches. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

const Envelope = z.object({ result: z.unknown() })

export interface QdrantAddress {
  /** URL of one node, or of several, separated by commas. */
  url: string
  apiKey?: string | undefined
  /** Default deadline for a call with all its attempts. */
  deadlineMs: number
  /** How long to wait between attempts. */
  backoff?: Backoff
}

interface QdrantRequest<Result> {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string>
  body?: unknown
  deadlineMs?: number
  /** How long to wait for an attempt before the next is made beside it. */
  attemptMs?: number
  /** Schema of the answer's `result`. */
  result: z.ZodType<Result>
  /** The answer itself is the result, without an envelope. */
  bare?: boolean
}

/** A transient failure of an attempt. */
interface Failure {
  error: Error
  waitMs?: number | undefined
}

export type QdrantConnection = ReturnType<typeof connectToQdrant>

/** Plain calls to Qdrant's REST API, typed by its description; docs/internals/decisions/qdrant-client.md says why its client is not used. */
export function connectToQdrant(address: QdrantAddress) {
  const nodes = createNodes(address.url.split(',').map((url) => url.trim()))
  return {
    /**
     * Sends a request, with retries after transient failures, so requests must be idempotent. Throws the abort reason
     * of `signal`, AppError `index_unavailable`, or `QdrantRefusal`.
     */
    async call<Result>(request: QdrantRequest<Result>, signal?: AbortSignal): Promise<Result> {
      const { deadlineMs = address.deadlineMs } = request
      const finished = new AbortController()
      using deadline = startDeadline(deadlineMs, signal, finished.signal)
      try {
        return await callUntilDone({ ...address, deadlineMs }, nodes, request, deadline.signal)
      } catch (error) {
        signal?.throwIfAborted()
        throw deadline.isOver ? late(deadlineMs)(error) : error
      } finally {
        // Ends the attempts that were slower.
        finished.abort()
      }
    },
  }
}

/** How long a node that failed is skipped if there is another. */
const REST_MS = 10_000

/** The nodes to which requests are sent, round robin. */
function createNodes(urls: readonly string[]) {
  const failedAt = new Map<string, number>()
  let turn = 0
  const isWell = (url: string) =>
    performance.now() - (failedAt.get(url) ?? Number.NEGATIVE_INFINITY) > REST_MS

  return {
    next(): string {
      turn++
      const inTurn = urls.map((_, place) => urls[(turn + place) % urls.length] ?? '')
      return inTurn.find(isWell) ?? inTurn[0] ?? ''
    },
    failed: (url: string) => void failedAt.set(url, performance.now()),
    worked: (url: string) => void failedAt.delete(url),
    isAnyWell: () => urls.some(isWell),
  }
}

/** Share of the deadline after which an attempt is late. */
const ATTEMPT_SHARE = 1 / 4
/** What describes collections takes milliseconds to answer, and readiness waits for it. */
const MAX_GET_MS = 500

async function callUntilDone<Result>(
  address: QdrantAddress,
  nodes: ReturnType<typeof createNodes>,
  request: QdrantRequest<Result>,
  limit: AbortSignal,
): Promise<Result> {
  const { backoff = BACKOFF, deadlineMs } = address
  const share = deadlineMs * ATTEMPT_SHARE
  const { attemptMs = request.method === 'GET' ? Math.min(share, MAX_GET_MS) : share } = request

  const askNode = async (url: string): Promise<Outcome<Result>> => {
    const outcome = await send({ ...address, url }, request, limit)
    if ('result' in outcome) nodes.worked(url)
    else nodes.failed(url)
    return outcome
  }

  /** An attempt that is late may be so for good reason: it goes on beside the next one. */
  const ask = async (attempt: number): Promise<Outcome<Result>> => {
    const url = nodes.next()
    const answer = askNode(url)
    if (attempt === MAX_ATTEMPTS) return answer
    if (!(await settlesWithin(answer, attemptMs))) {
      nodes.failed(url)
      return firstResult(answer, ask(attempt + 1))
    }
    const outcome = await answer
    if ('result' in outcome) return outcome
    const wait = nodes.isAnyWell() ? 0 : (outcome.waitMs ?? backoffMs(attempt, backoff))
    if (wait > backoff.maxMs) return outcome
    await pause(wait, limit)
    return ask(attempt + 1)
  }

  const outcome = await ask(1)
  if ('result' in outcome) return outcome.result
  throw outcome.error
}

type Outcome<Result> = { result: Result } | Failure

/** The first result of either, or else the failure of the second. Rejects as soon as either does. */
async function firstResult<Result>(
  one: Promise<Outcome<Result>>,
  other: Promise<Outcome<Result>>,
): Promise<Outcome<Result>> {
  const first = await Promise.race([one, other])
  if ('result' in first) return first
  const [early, later] = await Promise.all([one, other])
  return 'result' in early ? early : later
}

const late = (milliseconds: number) => (cause: unknown) =>
  unavailable(`The search index did not answer within ${milliseconds / 1_000} s`, cause)

async function send<Result>(
  { url, apiKey }: QdrantAddress,
  { method, path, query, body, result, bare }: QdrantRequest<Result>,
  signal: AbortSignal,
): Promise<Outcome<Result>> {
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
    const answer: unknown = JSON.parse(text)
    return { result: result.parse(bare ? answer : Envelope.parse(answer).result) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof QdrantRefusal || error instanceof AppError) throw error
    // A TypeError comes from `fetch`, when the connection failed; any other error means an invalid answer.
    const failed = error instanceof TypeError ? 'cannot be reached' : 'gives no proper answer'
    return { error: unavailable(`The search index ${failed}`, withoutKey(error, apiKey)) }
  }
}

function failureOf({ status, headers }: Response, text: string): Failure {
  const error = errorOf(status, text.slice(0, 500))
  if (!passes(status)) throw error
  return { error, waitMs: retryAfterOf(headers) }
}

/** Hides the API key: for an invalid header, `fetch` includes the value in its error message. */
function withoutKey(error: unknown, apiKey: string | undefined): unknown {
  const isShown = apiKey !== undefined && error instanceof Error && error.message.includes(apiKey)
  return isShown ? new Error('the request could not be made') : error
}

const RETRY_AFTER_SECONDS = 5

/** Qdrant rejected a request; retrying is pointless. The message contains Qdrant's own text and is only for the log. */
export class QdrantRefusal extends Error {
  override readonly name = 'QdrantRefusal'
  readonly status: number

  constructor(status: number, text: string) {
    super(`Qdrant refused a request with status ${status}: ${text}`)
    this.status = status
  }
}

/** Whether a call failed because the collection does not exist. */
export function isMissingCollection(error: unknown): boolean {
  const refusal = error instanceof AppError ? error.cause : undefined
  return refusal instanceof QdrantRefusal && refusal.status === 404
}

/** The error for a Qdrant that cannot be used now; `message` is shown to the client. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('index_unavailable', message, { cause, retryAfter: RETRY_AFTER_SECONDS })
}

/** Distinguishes a locked Qdrant from a key without permission: both have the same status. */
const LOCKED = /\block/i
/** Matches Qdrant's messages if a limit of its strict mode is exceeded. */
const BEYOND_LIMIT =
  /limit exceeded|limit reached|limit of \S+ reached|exceeding the configured limit/i
export const LIMITS_TOO_LOW =
  'The limits of the search index are too low: see strict mode in docs/guides/scaling.md'
const NO_MORE_INDEXES = /maximum number of payload ind/i

/** Whether Qdrant refused a payload index because the collection has as many as its strict mode allows. */
export function isOutOfIndexes(error: unknown): boolean {
  return error instanceof QdrantRefusal && NO_MORE_INDEXES.test(error.message)
}

/** The error for an unsuccessful answer. */
function errorOf(status: number, text: string): Error {
  const refusal = new QdrantRefusal(status, text)
  if (status === 403 && LOCKED.test(text)) {
    return unavailable('The search index is locked by its operator', refusal)
  }
  if (status === 401 || status === 403) {
    return unavailable('The search index refuses this server’s key: see QDRANT_API_KEY', refusal)
  }
  if (status === 400 && BEYOND_LIMIT.test(text)) {
    return unavailable(LIMITS_TOO_LOW, refusal)
  }
  if (status === 404)
    return unavailable('The collection of the search index does not exist', refusal)
  if (passes(status)) return unavailable('The search index is currently unavailable', refusal)
  return refusal
}

/** Whether a retry may succeed. */
function passes(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** The first version that supports `memory` in the configuration of a collection. */
const MIN_VERSION = [1, 19] as const
const Version = z.object({ version: z.string() })

/** Throws a SetupError if Qdrant's version is not supported; also throws as `call`. */
export async function checkVersion(
  { call }: QdrantConnection,
  signal?: AbortSignal,
): Promise<void> {
  const { version } = await call({ method: 'GET', path: '/', result: Version, bare: true }, signal)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]) return
  throw new SetupError(
    `Qdrant is of version ${version.slice(0, 20)}: this server needs ${MIN_VERSION.join('.')} or later, below ${MIN_VERSION[0] + 1}`,
  )
}
