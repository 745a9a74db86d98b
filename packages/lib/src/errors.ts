/**
 * Every error a client can see: the HTTP status it travels with and the `type` that
 * chat-completions clients switch on. Adding a code here is adding to the public contract;
 * a retired code is never used again for something else.
 */
export const ERRORS = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  insufficient_scope: { status: 403, type: 'permission_error' },
  collection_not_allowed: { status: 403, type: 'permission_error' },
  not_permitted: { status: 403, type: 'permission_error' },
  fetch_not_allowed: { status: 403, type: 'permission_error' },
  origin_not_allowed: { status: 403, type: 'permission_error' },
  groups_unknown: { status: 403, type: 'permission_error' },
  document_not_found: { status: 404, type: 'invalid_request_error' },
  collection_not_found: { status: 404, type: 'invalid_request_error' },
  file_not_found: { status: 404, type: 'invalid_request_error' },
  connection_not_found: { status: 404, type: 'invalid_request_error' },
  artifact_not_found: { status: 404, type: 'invalid_request_error' },
  conversation_not_found: { status: 404, type: 'invalid_request_error' },
  item_not_found: { status: 404, type: 'invalid_request_error' },
  feedback_not_found: { status: 404, type: 'invalid_request_error' },
  evaluation_not_found: { status: 404, type: 'invalid_request_error' },
  question_not_found: { status: 404, type: 'invalid_request_error' },
  response_not_found: { status: 404, type: 'invalid_request_error' },
  batch_not_found: { status: 404, type: 'invalid_request_error' },
  version_not_found: { status: 404, type: 'invalid_request_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  run_not_found: { status: 404, type: 'invalid_request_error' },
  key_not_found: { status: 404, type: 'invalid_request_error' },
  person_not_found: { status: 404, type: 'invalid_request_error' },
  route_not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  document_not_failed: { status: 409, type: 'invalid_request_error' },
  document_not_ready: { status: 409, type: 'invalid_request_error' },
  edit_conflict: { status: 409, type: 'invalid_request_error' },
  collection_exists: { status: 409, type: 'invalid_request_error' },
  collection_not_empty: { status: 409, type: 'invalid_request_error' },
  not_writable: { status: 409, type: 'invalid_request_error' },
  not_startable: { status: 409, type: 'invalid_request_error' },
  conversation_full: { status: 409, type: 'invalid_request_error' },
  too_many_keys: { status: 409, type: 'invalid_request_error' },
  evaluation_running: { status: 409, type: 'invalid_request_error' },
  too_many_questions: { status: 409, type: 'invalid_request_error' },
  idempotency_conflict: { status: 409, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  range_not_satisfiable: { status: 416, type: 'invalid_request_error' },
  queue_full: { status: 429, type: 'rate_limit_error' },
  too_many_uploads: { status: 429, type: 'rate_limit_error' },
  too_many_requests: { status: 429, type: 'rate_limit_error' },
  too_many_attempts: { status: 429, type: 'rate_limit_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  too_many_runs: { status: 429, type: 'rate_limit_error' },
  internal: { status: 500, type: 'server_error' },
  web_ui_unavailable: { status: 500, type: 'server_error' },
  fetch_failed: { status: 502, type: 'upstream_error' },
  upstream_failed: { status: 502, type: 'upstream_error' },
  upstream_refused: { status: 502, type: 'upstream_error' },
  upstream_unauthorized: { status: 502, type: 'upstream_error' },
  upstream_model_not_found: { status: 502, type: 'upstream_error' },
  upstream_rate_limited: { status: 429, type: 'upstream_error' },
  upstream_timeout: { status: 504, type: 'upstream_error' },
  index_unavailable: { status: 503, type: 'server_error' },
  index_not_ready: { status: 503, type: 'server_error' },
  issuer_unavailable: { status: 503, type: 'server_error' },
  sandbox_unavailable: { status: 503, type: 'server_error' },
  store_unavailable: { status: 503, type: 'server_error' },
  not_launched: { status: 503, type: 'server_error' },
  shutting_down: { status: 503, type: 'server_error' },
  storage_full: { status: 507, type: 'server_error' },
} as const satisfies Record<string, { status: number; type: string }>

export type ErrorCode = keyof typeof ERRORS

interface AppErrorOptions {
  cause?: unknown
  /** The request field at fault, as a dotted path: `messages.0.content`. */
  param?: string | undefined
  /** Seconds after which the same request may succeed; sent as `Retry-After`. */
  retryAfter?: number | undefined
}

/** A mistake in the setup, for which a server does not start; `message` tells its operator what to change. */
export class SetupError extends Error {
  override readonly name: string = 'SetupError'
}

/**
 * An error that the caller may read. `message` is shown unchanged, so it must never hold a secret, nor text from an
 * upstream beyond the cleaned excerpt of a refusal (`models/openai/failures.ts`).
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly param: string | undefined
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.param = options.param
    this.retryAfter = options.retryAfter
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}
