import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { startDeadline, withDeadline } from '../../lib/abort.ts'
import { type Backoff, backoffMs, retryAfterOf } from '../../lib/backoff.ts'
import { readBoundedText } from '../../lib/bounded-body.ts'

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
  /** Deadline for one attempt; by default a share of `deadlineMs`. */
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

/** Plain calls to Qdrant's REST API, typed by its description; docs/dependencies.md says why its client is not used. */
export function connectToQdrant(address: QdrantAddress) {
  const nodes = createNodes(address.url.split(',').map((url) => url.trim()))
  return {
    /**
     * Sends a request, with retries after transient failures, so requests must be idempotent. Throws the abort reason
     * of `signal`, AppError `index_unavailable`, or `QdrantRefusal`.
     */
    async call<Result>(request: QdrantRequest<Result>, signal?: AbortSignal): Promise<Result> {
      const { deadlineMs = address.deadlineMs } = request
      const call = (limit: AbortSignal) =>
        callUntilDone({ ...address, deadlineMs }, nodes, request, limit)
      return withDeadline(deadlineMs, call, late(deadlineMs), signal)
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

/** Share of the deadline for each short attempt. */
const ATTEMPT_SHARE = 1 / 4
/** Number of short attempts; later ones may take the remaining time, as a call may be slow for good reason. */
const SHORT_ATTEMPTS = 2

async function callUntilDone<Result>(
  address: QdrantAddress,
  nodes: ReturnType<typeof createNodes>,
  request: QdrantRequest<Result>,
  limit: AbortSignal,
): Promise<Result> {
  const { backoff = BACKOFF, deadlineMs } = address
  for (let attempt = 1; ; attempt++) {
    const url = nodes.next()
    const isShort = attempt <= SHORT_ATTEMPTS
    const share = isShort ? deadlineMs * ATTEMPT_SHARE : deadlineMs
    const { attemptMs = share } = request
    const outcome = await sendInTime(attemptMs, limit, (signal) =>
      send({ ...address, url }, request, signal),
    )
    if ('result' in outcome) {
      nodes.worked(url)
      return outcome.result
    }
    nodes.failed(url)
    const wait = nodes.isAnyWell() ? 0 : (outcome.waitMs ?? backoffMs(attempt, backoff))
    if (attempt === MAX_ATTEMPTS || wait > backoff.maxMs) throw outcome.error
    await delay(wait, undefined, { signal: limit })
  }
}

type Outcome<Result> = { result: Result } | Failure

/** Treats an attempt that exceeds `attemptMs` as a transient failure. */
async function sendInTime<Result>(
  attemptMs: number,
  limit: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<Outcome<Result>>,
): Promise<Outcome<Result>> {
  using deadline = startDeadline(attemptMs, limit)
  try {
    return await attempt(deadline.signal)
  } catch (error) {
    limit.throwIfAborted()
    if (deadline.isOver) return { error: late(attemptMs)(error) }
    throw error
  }
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
    const answer = JSON.parse(text)
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

  constructor(status: number, words: string) {
    super(`Qdrant refused a request with status ${status}: ${words}`)
    this.status = status
  }
}

/** Whether a call failed because the collection does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof AppError && Object(error.cause).status === 404
}

/** The error for a Qdrant that cannot be used now; `message` is shown to the client. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('index_unavailable', message, { cause, retryAfter: RETRY_AFTER_SECONDS })
}

/** Distinguishes a locked Qdrant from a key without permission: both have the same status. */
const LOCKED = /\block/i
/** Matches Qdrant's message if a limit of its strict mode is exceeded. */
const BEYOND_LIMIT = /limit exceeded/i

/** The error for an unsuccessful answer. */
function errorOf(status: number, words: string): Error {
  const refusal = new QdrantRefusal(status, words)
  if (status === 403 && LOCKED.test(words)) {
    return unavailable('The search index is locked by whoever runs it', refusal)
  }
  if (status === 401 || status === 403) {
    return unavailable(
      'The search index refuses the key of this server: see QDRANT_API_KEY',
      refusal,
    )
  }
  if (status === 400 && BEYOND_LIMIT.test(words)) {
    return unavailable(
      'The search index allows less than this server needs: see its strict mode in docs/scaling.md',
      refusal,
    )
  }
  if (status === 404) return unavailable('The search index lacks its collection', refusal)
  if (passes(status)) return unavailable('The search index does not work at the moment', refusal)
  return refusal
}

/** Whether a retry may succeed. */
function passes(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** The first version that supports `memory` in the configuration of a collection. */
const MIN_VERSION = [1, 19] as const
const Version = z.object({ version: z.string() })

/** Throws an Error if Qdrant's version is not supported; also throws as `call`. */
export async function checkVersion(
  { call }: QdrantConnection,
  signal?: AbortSignal,
): Promise<void> {
  const { version } = await call({ method: 'GET', path: '/', result: Version, bare: true }, signal)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]) return
  throw new Error(
    `Qdrant is of version ${version.slice(0, 20)}: this server needs ${MIN_VERSION.join('.')} or later, below ${MIN_VERSION[0] + 1}`,
  )
}
