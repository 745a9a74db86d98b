/** Why a call to somewhere outside gave no answer. */
export type OutboundErrorKind =
  /** The address is not public and OUTBOUND_ALLOW does not name it, or the URL is none to be called. */
  | 'forbidden'
  /** No connection, a broken one, or an answer that is not HTTP. */
  | 'unreachable'
  /** No answer, or no more of it, in the time there is. */
  | 'timeout'
  /** The answer is larger than is read. */
  | 'too_large'

/** `message` may be shown: it names the host and what to do, never a path, a query or the other side's words. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly kind: OutboundErrorKind

  constructor(kind: OutboundErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}

/** The `OutboundError` that an error is, or that lies beneath it. */
export function outboundCause(error: unknown): OutboundError | undefined {
  if (error instanceof OutboundError) return error
  return error instanceof Error ? outboundCause(error.cause) : undefined
}
