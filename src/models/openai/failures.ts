import { APIConnectionError, APIError } from 'openai'
import { retryAfterOf } from '../../lib/backoff.ts'
import { isObject, nonEmptyString, parseJson } from './json.ts'

type FailureKind =
  | 'status'
  | 'unreachable'
  | 'connection'
  | 'timeout'
  | 'ended-early'
  | 'unreadable'
  | 'web-page'

export interface FailureFacts {
  kind: FailureKind
  /** The HTTP status, or the one that an error inside the stream stands for. */
  status?: number | undefined
  code?: string | undefined
  /** What the upstream said, raw: it may hold secrets, so it is cleaned before anyone sees it. */
  words?: string
  retryAfterMs?: number | undefined
  /** True where the upstream asked not to be tried again. */
  final?: boolean
}

/** Why one call of the upstream failed. Never leaves the models: see `explainFailure`. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly facts: FailureFacts

  constructor(facts: FailureFacts) {
    super(`The upstream failed: ${facts.kind}`)
    this.facts = facts
  }
}

const MAX_WORDS = 4_000
const MAX_CAUSES = 5

const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
])

/** How a socket dies that had been open: the server is there. */
const BROKEN_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** What a code says more exactly than the status it comes with. */
const EXACT_STATUS: Record<string, number> = {
  context_length_exceeded: 400,
  exceed_context_size_error: 400,
  insufficient_quota: 402,
  model_not_found: 404,
}

/** What errors inside a stream, which carry no status, stand for. */
const STATUS_IN_STREAM: Record<string, number> = {
  ...EXACT_STATUS,
  authentication_error: 401,
  invalid_api_key: 401,
  invalid_request_error: 400,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  timeout: 408,
}

/** How LM Studio answers, with status 200, when the base URL lacks `/v1`. */
const WRONG_PATH = /^unexpected endpoint/i

/** Names whatever the SDK or the network threw. */
export function toUpstreamFailure(thrown: unknown): UpstreamFailure {
  const causes = causesOf(thrown)
  const known = causes.find((cause) => cause instanceof UpstreamFailure)
  if (known) return known
  const words = causes.map(describe).join(': ').slice(0, MAX_WORDS)
  const codes = causes.map((cause) => codeOf(cause) ?? '')
  const kind = networkFailure(thrown, codes)
  if (kind) return new UpstreamFailure({ kind, words })
  if (thrown instanceof APIError) return failureInStream(thrown.error)
  return new UpstreamFailure({ kind: 'unreadable', words })
}

/** The failure that an error inside a stream reports. */
export function failureInStream(error: unknown): UpstreamFailure {
  const { code = '', words } = readError(error)
  const status = WRONG_PATH.test(words) ? 404 : (STATUS_IN_STREAM[code] ?? statusIn(code) ?? 500)
  return new UpstreamFailure({ kind: 'status', status, code, words })
}

/** The failure that a status outside 2xx reports; `body` may be cut short. */
export function failureOfStatus(status: number, headers: Headers, body: string): UpstreamFailure {
  const isWebPage = body.trimStart().startsWith('<')
  if (isWebPage && [400, 404, 405].includes(status)) {
    return new UpstreamFailure({ kind: 'web-page', status })
  }
  const { code = '', words } = readError(isWebPage ? '' : (parseJson(body) ?? body))
  return new UpstreamFailure({
    kind: 'status',
    status: EXACT_STATUS[code] ?? status,
    code,
    words,
    retryAfterMs: retryAfterOf(headers),
    final: headers.get('x-should-retry') === 'false',
  })
}

/** Reads the many shapes of error bodies: nested, flat, a list of one, a plain string. */
function readError(body: unknown): { code?: string; words: string } {
  const outer = Array.isArray(body) ? body[0] : body
  const error = isObject(outer) ? (outer.error ?? outer) : outer
  if (!isObject(error)) return { words: String(error ?? '').slice(0, MAX_WORDS) }
  const names = [error.code, error.type].map(String)
  const code = names.find((name) => name in STATUS_IN_STREAM) ?? names.find(statusIn)
  const message = nonEmptyString(error.message) ?? nonEmptyString(error.detail)
  // Behind a router, the provider's own words stand in the metadata.
  const raw = isObject(error.metadata) ? nonEmptyString(error.metadata.raw) : undefined
  const words = [message ?? JSON.stringify(error), raw].filter(Boolean).join(' ')
  return { ...(code && { code }), words: words.slice(0, MAX_WORDS) }
}

/** The HTTP status that some servers give as the code. */
function statusIn(code: string): number | undefined {
  return /^[45]\d\d$/.test(code) ? Number(code) : undefined
}

function causesOf(thrown: unknown): unknown[] {
  const causes = [thrown]
  let last = thrown
  while (last instanceof Error && last.cause !== undefined && causes.length < MAX_CAUSES) {
    last = last.cause
    causes.push(last)
  }
  return causes
}

function describe(cause: unknown): string {
  return cause instanceof Error ? `${codeOf(cause) ?? cause.name} ${cause.message}` : String(cause)
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause ? nonEmptyString(cause.code) : undefined
}

function networkFailure(thrown: unknown, codes: readonly string[]): FailureKind | undefined {
  if (codes.some((code) => TIMEOUT_CODES.has(code))) return 'timeout'
  // A socket that dies while the body is read surfaces as this bare error of `fetch`.
  const diedMidway = thrown instanceof TypeError && thrown.message === 'terminated'
  if (diedMidway || codes.some((code) => BROKEN_CODES.has(code))) return 'connection'
  // How `fetch` itself says that there was no connection.
  const failedFetch = thrown instanceof TypeError && thrown.message === 'fetch failed'
  return failedFetch || thrown instanceof APIConnectionError ? 'unreachable' : undefined
}

/** A shorter key is a placeholder, as keyless servers take, and may be a part of any word. */
const SHORTEST_SECRET = 4
const HIDDEN = '[hidden]'

/** Keys in the shapes that providers give them, whole or masked in part, and account names. */
const SECRETS = [
  /\bBearer\s+\S+/gi,
  /\b(?:sk|pk|rk|gsk|xai|nvapi|hf|ghp|org|proj|user)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w-]{10,}/g,
  /\bhttps?:\/\/\S+/gi,
]

/** Takes out of upstream words what nobody may see: `apiKey`, what looks like a key, and addresses. */
export function createRedactor(apiKey: string): (words: string) => string {
  return (words) => {
    const keyless = apiKey.length < SHORTEST_SECRET ? words : words.replaceAll(apiKey, HIDDEN)
    return SECRETS.reduce((text, pattern) => text.replace(pattern, HIDDEN), keyless)
  }
}
