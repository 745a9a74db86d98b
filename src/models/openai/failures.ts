import { pause } from '../../lib/abort.ts'
import { backoffMs, retryAfterOf } from '../../lib/backoff.ts'
import { parseJson } from '../../lib/text/json.ts'
import { isObject, nonEmptyString } from './json.ts'

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

/** An answer that makes no sense. */
export function unreadable(words: string): UpstreamFailure {
  return new UpstreamFailure({ kind: 'unreadable', words })
}

const MAX_WORDS = 4_000

/** How a connection that is being made, or one that had been made, ends. */
const KIND_OF_CODE: Record<string, FailureKind> = {
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'connection',
  EPIPE: 'connection',
}

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

/** Names what was thrown while the upstream was asked; `otherwise` where the error does not say. */
export function toUpstreamFailure(
  thrown: unknown,
  otherwise: FailureKind = 'unreadable',
): UpstreamFailure {
  if (thrown instanceof UpstreamFailure) return thrown
  const code = codeOf(thrown)
  const words =
    thrown instanceof Error ? `${code ?? thrown.name} ${thrown.message}` : String(thrown)
  const kind = KIND_OF_CODE[code ?? ''] ?? otherwise
  return new UpstreamFailure({ kind, words: words.slice(0, MAX_WORDS) })
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

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? nonEmptyString(thrown.code) : undefined
}

/** How the servers say that the prompt is longer than the model's window. */
const TOO_LONG =
  /context[ _-]?(?:length|size|window)|maximum (?:prompt|input) length|prompt is too long|too many (?:input )?tokens|less than \d+ tokens|too large to process/i

/** Whether the text is longer than the model's window. Ollama says so with status 400 or 500, Text Embeddings Inference with 413, llama.cpp with 500. */
export function isTooLong({ kind, status, words = '' }: FailureFacts): boolean {
  return kind === 'status' && (status === 413 || TOO_LONG.test(words))
}

const MAX_RETRIES = 2
/** A server that asks for a longer wait than this is reported instead of waited for. */
const MAX_WAIT_MS = 5_000
const BACKOFF = { firstMs: 500, maxMs: MAX_WAIT_MS }

/** The part of a logger that a model uses. Nothing it is given holds a key or a prompt. */
export interface ModelLog {
  warn(facts: Record<string, unknown>, message: string): void
}

interface Asking {
  /** As in “The chat model is asked again”. */
  upstream: string
  log: ModelLog | undefined
  /** True where the next try is made in a way that the server may accept, instead of what it has refused. */
  adapt?: (failure: UpstreamFailure) => boolean
}

/**
 * Asks until there is an answer, or no use in asking again. Throws UpstreamFailure, or what `signal` was
 * aborted with.
 */
export async function askRepeatedly<Answer>(
  ask: () => Promise<Answer>,
  { upstream, log, adapt }: Asking,
  signal: AbortSignal,
): Promise<Answer> {
  for (let retries = 0; ; ) {
    signal.throwIfAborted()
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      const failure = toUpstreamFailure(error)
      if (adapt?.(failure)) continue
      const wait = retryDelay(failure.facts, retries++)
      if (wait === undefined) throw failure
      const { kind, status } = failure.facts
      log?.warn({ kind, status, retry: retries, wait }, `The ${upstream} is asked again`)
      await pause(wait, signal)
    }
  }
}

/** Only what passes by itself is tried again, never a stall: the caller has waited long enough. */
function retryDelay(facts: FailureFacts, retries: number): number | undefined {
  if (retries >= MAX_RETRIES || facts.final || !isPassing(facts)) return undefined
  if (facts.retryAfterMs === undefined) return backoffMs(retries + 1, BACKOFF)
  return facts.retryAfterMs <= MAX_WAIT_MS ? facts.retryAfterMs : undefined
}

function isPassing(facts: FailureFacts): boolean {
  const { kind, status = 0 } = facts
  if (kind === 'connection' || kind === 'unreachable') return true
  const isTransient = status >= 500 || [408, 409, 429].includes(status)
  return kind === 'status' && isTransient && !isTooLong(facts)
}
