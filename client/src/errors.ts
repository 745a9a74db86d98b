import type { ErrorDetail } from './contract.ts'

/** What a failure is known by, beside its message. */
export interface FailureFacts {
  /** The HTTP status; undefined where no answer came, or where a stream failed after it had begun. */
  status?: number | undefined
  /** The server's stable name of the failure, see docs/errors.md of the server; a later server may have more of them. */
  code?: string | undefined
  /** The id of the request, which the server's log has, too. */
  requestId?: string | undefined
  /** Seconds after which the server wants to be asked again, where it says so. */
  retryAfter?: number | undefined
  cause?: unknown
}

/** What all errors of this client are. None holds the key. */
export class AgentServerError extends Error {
  override name = 'AgentServerError'
  readonly status: number | undefined
  readonly code: string | undefined
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

/** 403: the key is right, but this is not allowed. */
export class PermissionDeniedError extends AgentServerError {
  override name = 'PermissionDeniedError'
}

/** 404: there is no such document, artifact, connection, model or route. */
export class NotFoundError extends AgentServerError {
  override name = 'NotFoundError'
}

/** 409: what is stored already does not allow this. */
export class ConflictError extends AgentServerError {
  override name = 'ConflictError'
}

/** 400, 413, 415 and other refusals that only another request can mend. */
export class InvalidRequestError extends AgentServerError {
  override name = 'InvalidRequestError'
  /** The field at fault as a dotted path, such as `messages.0.content`. */
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

/** The chat model behind the server failed or refused. */
export class UpstreamError extends AgentServerError {
  override name = 'UpstreamError'
}

/** A fault of the server, or of something that answers in its place. */
export class ServerError extends AgentServerError {
  override name = 'ServerError'
}

/** No answer came, or its rest did not: no server, no way there, or the connection broke. */
export class ConnectionError extends AgentServerError {
  override name = 'ConnectionError'
}

/** Nothing was heard for as long as `timeout` allows, or a wait was over. */
export class TimeoutError extends AgentServerError {
  override name = 'TimeoutError'
}

/** The caller aborted; `cause` is the reason of the signal. */
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

/** A document that was waited for has failed; `code` says why, see docs/ingestion.md of the server. */
export class IngestionError extends AgentServerError {
  override name = 'IngestionError'
  readonly documentId: string

  constructor(message: string, documentId: string, code?: string) {
    super(message, { code })
    this.documentId = documentId
  }
}

type Refusal = Pick<FailureFacts, 'status' | 'requestId' | 'retryAfter'>

/** The error for what the server says went wrong; `detail` may lack anything, as when a proxy answered. */
export function toError(detail: Partial<ErrorDetail>, refusal: Refusal = {}): AgentServerError {
  const { code, type, param } = detail
  const { status = statusOfType(type, code) } = refusal
  const message = detail.message ?? `The server answered ${status ?? 'with an error'}`
  const facts = { ...refusal, code, requestId: detail.request_id ?? refusal.requestId }
  if (type === 'upstream_error') return new UpstreamError(message, facts)
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

/** The status that goes with an error within a stream, which has none of its own. */
function statusOfType(type: string | undefined, code = ''): number | undefined {
  if (type === 'authentication_error') return 401
  if (type === 'permission_error') return 403
  if (type === 'rate_limit_error') return 429
  if (code.endsWith('_not_found')) return 404
  return type === 'invalid_request_error' ? 400 : undefined
}
