import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { startDeadline, withDeadline } from '../../lib/abort.ts'
import { type Backoff, backoffMs, retryAfterOf } from '../../lib/backoff.ts'
import { readBoundedText } from '../../lib/bounded-body.ts'

const MAX_ATTEMPTS = 4
/** A server that asks to be left alone for longer than `maxMs` is reported instead of waited for. */
const BACKOFF = { firstMs: 130, maxMs: 3_000 }
/** A page of ten thousand keys takes 300 kB, four thousand matches as much. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

const Envelope = z.object({ result: z.unknown() })

export interface QdrantAddress {
  /** Of one node, or of several, separated by commas. */
  url: string
  apiKey?: string | undefined
  /** For one call with all its attempts, unless it says otherwise. */
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
  /** For one attempt; by default a part of the deadline. */
  attemptMs?: number
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
  const nodes = createNodes(address.url.split(',').map((url) => url.trim()))
  return {
    /**
     * Sends a request, again where that may help: none of ours does harm when it is done twice. Throws what
     * `signal` was aborted with, `index_unavailable`, or `QdrantRefusal`.
     */
    async call<Result>(request: QdrantRequest<Result>, signal?: AbortSignal): Promise<Result> {
      const { deadlineMs = address.deadlineMs } = request
      const call = (limit: AbortSignal) =>
        callUntilDone({ ...address, deadlineMs }, nodes, request, limit)
      return withDeadline(deadlineMs, call, late(deadlineMs), signal)
    },
  }
}

/** A node that failed is passed over for so long, as long as there is another. */
const REST_MS = 10_000

/** The nodes that a request may be sent to, each in its turn. */
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

/** Of the deadline, for an attempt that others may follow. */
const ATTEMPT_SHARE = 1 / 4
/** The attempts that are bounded so; one after them may take what is left, as a call may be slow for good reason. */
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

/** A node that hangs has failed like any other. */
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

/** Whether a call failed because there is no such collection. */
export function isMissing(error: unknown): boolean {
  return error instanceof AppError && Object(error.cause).status === 404
}

/** Qdrant cannot be used now; `message` is shown to the client. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('index_unavailable', message, { cause, retryAfter: RETRY_AFTER_SECONDS })
}

/** Refused with the same status as a key that may not do this. */
const LOCKED = /\block/i
/** As Qdrant words what strict mode refuses by a number. */
const BEYOND_LIMIT = /limit exceeded/i

/** What an answer that is not a success means. */
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

/** Whether the same request may succeed a moment later. */
function passes(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** The first that takes `memory` in the description of a collection. */
const MIN_VERSION = [1, 19] as const
const Version = z.object({ version: z.string() })

/** Throws where the server at the address is no Qdrant that this index can be kept in. */
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
