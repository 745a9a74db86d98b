import { pause } from '@agent-server/lib/abort.ts'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import type { Log } from '@agent-server/lib/log.ts'
import {
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOf,
  parseJson,
} from '@agent-server/lib/text/json.ts'
import { meaningOf } from './meaning.ts'
import { retryAfterIn, waitIn } from './retry-after.ts'
import { isTooLong, sizesIn } from './too-long.ts'

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
  /** The HTTP status, or the one that an error inside the stream corresponds to. */
  status?: number | undefined
  code?: string | undefined
  /** The field of the request that is refused, and why, if the server names them apart from its message. */
  param?: string | undefined
  reason?: string | undefined
  /** The upstream's raw text. It may contain secrets, so it must be redacted before it is shown or logged. */
  rawMessage?: string
  retryAfterMs?: number | undefined
  /** If the prompt was too long: its size and that of the model's window, in tokens, as far as the server tells. */
  promptTokens?: number
  window?: number
  /** True if the upstream asked not to retry. */
  final?: boolean
}

/** A failed call of the upstream. Never leaves this folder: see `explainFailure`. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly facts: FailureFacts

  constructor(facts: FailureFacts) {
    super(`The upstream failed: ${facts.kind}`)
    this.facts = facts
  }
}

/** The failure for an answer that cannot be understood. */
export function unreadable(rawMessage: string): UpstreamFailure {
  return new UpstreamFailure({ kind: 'unreadable', rawMessage })
}

const MAX_WORDS = 4_000

/** Error codes of connections that could not be opened or that broke. */
const KIND_OF_CODE: Record<string, FailureKind> = {
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'connection',
  EPIPE: 'connection',
}

/** Codes that are more precise than the status they come with. */
const EXACT_STATUS: Record<string, number> = {
  context_length_exceeded: 400,
  exceed_context_size_error: 400,
  insufficient_quota: 402,
  model_not_found: 404,
  model_decommissioned: 410,
  model_gone: 410,
  // Groq: the model wrote a call that cannot be read, which it may not do the next time.
  tool_use_failed: 502,
}

/** The statuses for errors inside a stream, which have none. */
const STATUS_IN_STREAM: Record<string, number> = {
  ...EXACT_STATUS,
  authentication_error: 401,
  billing_error: 402,
  invalid_api_key: 401,
  invalid_request_error: 400,
  // The names of classes, as vLLM and DeepInfra have them.
  BadRequestError: 400,
  NotFoundError: 404,
  not_found_error: 404,
  overloaded_error: 529,
  permission_error: 403,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  request_too_large: 413,
  timeout: 408,
  timeout_error: 504,
}
/** Messages of Anthropic with status 400 for failures that have a status elsewhere. */
const NO_CREDIT = /credit balance is too low/i

/** LM Studio's answer, with status 200, if the base URL lacks `/v1`. */
const WRONG_PATH = /^unexpected endpoint/i

/** Classifies an error thrown during a call of the upstream; `otherwise` is used if the error does not tell. */
export function toUpstreamFailure(
  thrown: unknown,
  otherwise: FailureKind = 'unreadable',
): UpstreamFailure {
  if (thrown instanceof UpstreamFailure) return thrown
  const code = codeOf(thrown)
  const rawMessage =
    thrown instanceof Error ? `${code ?? thrown.name} ${thrown.message}` : String(thrown)
  const kind = KIND_OF_CODE[code ?? ''] ?? otherwise
  return new UpstreamFailure({ kind, rawMessage: rawMessage.slice(0, MAX_WORDS) })
}

/** The failure that an error inside a stream reports. */
export function failureInStream(error: unknown): UpstreamFailure {
  const { code = '', rawMessage, error: serverError, ...more } = readError(error)
  const status = WRONG_PATH.test(rawMessage)
    ? 404
    : (STATUS_IN_STREAM[code] ?? statusIn(code) ?? quotedStatus(rawMessage) ?? 500)
  const retryAfterMs = waitIn(serverError, rawMessage)
  return new UpstreamFailure({ kind: 'status', status, code, rawMessage, retryAfterMs, ...more })
}

/** The failure for a status outside 2xx; `body` may be truncated. */
export function failureOfStatus(status: number, headers: Headers, body: string): UpstreamFailure {
  const isWebPage = body.trimStart().startsWith('<')
  if (isWebPage && [400, 401, 403, 404, 405].includes(status)) {
    return new UpstreamFailure({ kind: 'web-page', status })
  }
  const {
    code = '',
    rawMessage,
    error,
    ...more
  } = readError(isWebPage ? '' : (parseJson(body) ?? body))
  return new UpstreamFailure({
    kind: 'status',
    status: NO_CREDIT.test(rawMessage)
      ? 402
      : (EXACT_STATUS[code] ?? (status === 500 ? quotedStatus(rawMessage) : undefined) ?? status),
    code,
    rawMessage,
    retryAfterMs: retryAfterIn(headers, error, rawMessage),
    final: headers.get('x-should-retry') === 'false',
    ...more,
  })
}

type ErrorFacts = Pick<FailureFacts, 'code' | 'param' | 'reason' | 'promptTokens' | 'window'> & {
  rawMessage: string
  error: JsonObject
}

/** Reads the various formats of error bodies: nested, flat, a list of one, a plain string, one quoted by another. */
function readError(body: unknown): ErrorFacts {
  const outer = Array.isArray(body) ? body[0] : body
  const error = isObject(outer) ? innerError(outer) : outer
  if (!isObject(error)) {
    return { rawMessage: String(error ?? '').slice(0, MAX_WORDS), error: objectOf(outer) }
  }
  const message = messageIn(error)
  const quoted = parseJson(String(message))
  if (isObject(quoted) && isObject(quoted.error)) return readError(quoted)
  const code = codeIn(error)
  const rawMessage = wordsIn(error, message)
  const param = isWords(error.param) ? undefined : nonEmptyString(error.param)
  return {
    ...(code && { code }),
    ...(param && { param, reason: nonEmptyString(error.code) }),
    rawMessage: rawMessage.slice(0, MAX_WORDS),
    error,
    ...sizesIn(error, rawMessage),
  }
}

/** What frameworks write is the name of the status as `error`, and a message beside it. */
function innerError(outer: JsonObject): unknown {
  if (typeof outer.error === 'string' && nonEmptyString(outer.message)) return outer
  // Cloudflare lists its errors.
  const [first] = outer.success === false && Array.isArray(outer.errors) ? outer.errors : []
  return outer.error ?? first ?? outer
}

/** Some gateways write a sentence in place of the name of a field. */
const isWords = (param: unknown) => typeof param === 'string' && param.includes(' ')

/** The message of a server, in whichever field. */
export const messageIn = ({ message, detail, error_message, msg }: JsonObject) =>
  [message, detail, error_message, msg].find(nonEmptyString)

function codeIn({ code, type, error_type, status_code, http_status_code }: JsonObject) {
  const names = [code, type, error_type, status_code, http_status_code].map(String)
  return names.find((name) => name in STATUS_IN_STREAM) ?? names.find(statusIn)
}

/** The message; with the provider's own text, which routers put into the metadata, and what validators list apart. */
function wordsIn(error: JsonObject, message: unknown): string {
  const raw = nonEmptyString(objectOf(error.metadata).raw)
  const details = error.detail === message && error.errors ? JSON.stringify(error.errors) : ''
  const status = message && nonEmptyString(error.error)
  const words = isWords(error.param) && error.param
  return [status && `${status}:`, message ?? JSON.stringify(error), words, raw, details]
    .filter(Boolean)
    .join(' ')
}

/** The status of another server whose refusal is quoted: "Error code: 400 - {…", ": 400 Bad Request {…". */
function quotedStatus(words: string): number | undefined {
  const [, numbered, named] =
    /\b(?:error|status) code:? (4\d\d)\b|\b(4\d\d) (?:Bad Request|Not Found|Unprocessable|Too Many)/i.exec(
      words,
    ) ?? []
  return statusIn(numbered ?? named ?? '')
}

/** The HTTP status, if a server gives that as the code. */
function statusIn(code: string): number | undefined {
  return /^[45]\d\d$/.test(code) ? Number(code) : undefined
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? nonEmptyString(thrown.code) : undefined
}

const MAX_RETRIES = 2
/** If a server asks for a longer wait, the call fails instead of waiting. */
const MAX_WAIT_MS = 5_000
const BACKOFF = { firstMs: 500, maxMs: MAX_WAIT_MS }

interface Asking {
  /** As in “The chat model is asked again”. */
  upstream: string
  log: Pick<Log, 'warn'> | undefined
}

/** Waits before each retry of one call; throws the failure where another attempt is pointless. */
export function createRetries({ upstream, log }: Asking) {
  let retries = 0
  return async (failure: UpstreamFailure, signal: AbortSignal): Promise<void> => {
    const wait = retryDelay(failure.facts, retries++)
    if (wait === undefined) throw failure
    const { kind, status } = failure.facts
    log?.warn({ kind, status, retry: retries, wait }, `retrying the ${upstream}`)
    await pause(wait, signal)
  }
}

/**
 * Retries until there is an answer or retrying is pointless; `adapt` returns true if the next attempt avoids what the
 * server has refused. Throws UpstreamFailure, or the abort reason of `signal`.
 */
export async function askRepeatedly<Answer>(
  ask: () => Promise<Answer>,
  { adapt, ...asking }: Asking & { adapt?: (failure: UpstreamFailure) => boolean },
  signal: AbortSignal,
): Promise<Answer> {
  const waitForRetry = createRetries(asking)
  for (;;) {
    signal.throwIfAborted()
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      const failure = toUpstreamFailure(error)
      if (!adapt?.(failure)) await waitForRetry(failure, signal)
    }
  }
}

/** Whether the server still loads the model, as llama.cpp and Hugging Face say it; that passes, but may take minutes. */
export function isLoading({ kind, status, rawMessage = '' }: FailureFacts): boolean {
  return (
    kind === 'status' && status === 503 && /loading model|is currently loading/i.test(rawMessage)
  )
}

/** The time until the next attempt, in ms. Undefined unless the failure is transient; no retries after a timeout. */
function retryDelay(facts: FailureFacts, retries: number): number | undefined {
  if (retries >= MAX_RETRIES || facts.final || !isPassing(facts)) return undefined
  if (facts.retryAfterMs === undefined) return backoffMs(retries + 1, BACKOFF)
  return facts.retryAfterMs <= MAX_WAIT_MS ? facts.retryAfterMs : undefined
}

/** What no second try mends, whatever the status: Ollama has too little memory for the model. */
const LASTS = /more system memory|out of memory/i

function isPassing(facts: FailureFacts): boolean {
  const { kind, rawMessage = '' } = facts
  const status = meaningOf(facts)
  if (LASTS.test(rawMessage)) return false
  if (kind === 'connection' || kind === 'unreachable') return true
  const isTransient = status >= 500 || [408, 409, 429].includes(status)
  return kind === 'status' && isTransient && !isTooLong(facts)
}
