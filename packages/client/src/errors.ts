import type { ErrorCode, ErrorDetail } from './contract.ts'

/** A code that the contract lists, or one of a newer server. */
type AnyCode = ErrorCode | (string & Record<never, never>)

/** What is known about a failure, besides its message. */
export interface FailureFacts {
  /** The HTTP status; undefined if there was no response, or if a stream failed after it had begun. */
  status?: number | undefined
  /** The server's stable code of the failure, see docs/reference/errors.md of the server; newer servers may have other codes. */
  code?: AnyCode | undefined
  /** The request's id, which is also in the server's log. */
  requestId?: string | undefined
  /** Seconds after which the server asks for a retry, if it says so. */
  retryAfter?: number | undefined
  cause?: unknown
}

/** The base class of all errors of this client. None contains the key. */
export class AgentServerError extends Error {
  override name = 'AgentServerError'
  readonly status: number | undefined
  readonly code: AnyCode | undefined
  readonly requestId: string | undefined
  readonly retryAfter: number | undefined

  constructor(message: string, facts: FailureFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.status = facts.status
    this.code = facts.code
    this.requestId = facts.requestId
    this.retryAfter = facts.retryAfter
  }
}

/** 401: the key is missing or wrong. */
export class AuthenticationError extends AgentServerError {
  override name = 'AuthenticationError'
}

/** 403: the key is valid, but does not permit this. */
export class PermissionDeniedError extends AgentServerError {
  override name = 'PermissionDeniedError'
}

/** 404: there is no such document, artifact, connection, model or route. */
export class NotFoundError extends AgentServerError {
  override name = 'NotFoundError'
}

/** 409: the request conflicts with the current state. */
export class ConflictError extends AgentServerError {
  override name = 'ConflictError'
}

/** 400, 413, 415 and other refusals that only a different request can fix. */
export class InvalidRequestError extends AgentServerError {
  override name = 'InvalidRequestError'
  /** The field at fault, as a dotted path such as `messages.0.content`. */
  readonly param: string | undefined

  constructor(message: string, facts: FailureFacts = {}, param?: string) {
    super(message, facts)
    this.param = param
  }
}

/** 429: too much at once; `retryAfter` says when there may be room. */
export class RateLimitError extends AgentServerError {
  override name = 'RateLimitError'
}

/** A model or another upstream of the server failed or refused. */
export class UpstreamError extends AgentServerError {
  override name = 'UpstreamError'
}

/** An error of the server, or of something that answers in its place. */
export class ServerError extends AgentServerError {
  override name = 'ServerError'
}

/** No response, or only a part of it, was received: no server, no route to it, or a broken connection. */
export class ConnectionError extends AgentServerError {
  override name = 'ConnectionError'
}

/** The server was silent for the `timeout`, or a wait was over. */
export class TimeoutError extends AgentServerError {
  override name = 'TimeoutError'
}

/** The caller aborted; `cause` is the signal's reason. */
export class AbortError extends AgentServerError {
  override name = 'AbortError'
}

/** A stream ended before it was complete. */
export class StreamInterruptedError extends AgentServerError {
  override name = 'StreamInterruptedError'
  /** The text of the answer so far. */
  readonly text: string

  constructor(message: string, text: string, facts: FailureFacts = {}) {
    super(message, facts)
    this.text = text
  }
}

/** Ingestion of an awaited document failed; `code` says why, see docs/guides/ingestion.md of the server. */
export class IngestionError extends AgentServerError {
  override name = 'IngestionError'
  readonly documentId: string

  constructor(message: string, documentId: string, code?: string) {
    super(message, { code })
    this.documentId = documentId
  }
}

type Refusal = Pick<FailureFacts, 'status' | 'requestId' | 'retryAfter'>

/** The error for a failure that the server reports; `detail` may lack any field, as when a proxy answered. */
export function toError(detail: Partial<ErrorDetail>, refusal: Refusal = {}): AgentServerError {
  const { code, type, param } = detail
  const { status = statusOfType(type, code) } = refusal
  const message = detail.message ?? `The server answered ${status ?? 'with an error'}`
  const facts = { ...refusal, code, requestId: detail.request_id ?? refusal.requestId }
  if (type === 'upstream_error' && code !== 'upstream_rate_limited') {
    return new UpstreamError(message, facts)
  }
  const Kind = KIND_BY_STATUS.get(status)
  if (Kind) return new Kind(message, facts)
  return status !== undefined && status < 500
    ? new InvalidRequestError(message, facts, param ?? undefined)
    : new ServerError(message, facts)
}

const KIND_BY_STATUS = new Map<number | undefined, typeof AgentServerError>([
  [401, AuthenticationError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [429, RateLimitError],
])

/** The status for an error within a stream, which has none of its own. */
function statusOfType(type: string | undefined, code = ''): number | undefined {
  if (type === 'authentication_error') return 401
  if (type === 'permission_error') return 403
  if (type === 'rate_limit_error' || code === 'upstream_rate_limited') return 429
  if (code.endsWith('_not_found')) return 404
  return type === 'invalid_request_error' ? 400 : undefined
}
