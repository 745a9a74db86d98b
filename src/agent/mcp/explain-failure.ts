import { MissingVariable } from '@agent-server/lib/environment.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { outboundCause } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import {
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from '@modelcontextprotocol/client'

const MAX_DEPTH = 5

/** Explains a server's failure in this program's own words: they contain neither a secret nor text from the server. */
export function explainFailure(error: unknown): string {
  for (const one of causes(error)) {
    const explanation = explainOne(one)
    if (explanation) return explanation
  }
  return 'The server cannot be used; see the log for details'
}

/** Whether the server has lost the session: it did nothing, so the call can be repeated in a new session. */
export function isForgottenSession(error: unknown): boolean {
  return (
    (error instanceof SdkHttpError && [400, 404].includes(error.status)) ||
    (error instanceof SdkError && error.code === SdkErrorCode.NotConnected)
  )
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
}

/** What may be logged of an error: names and codes, since messages and fields can hold what a server or header said. */
export function kindOf(error: unknown): string {
  return causes(error)
    .map((one) => ('code' in one ? `${one.name} ${String(one.code)}` : one.name))
    .join(' < ')
}

const OWN_ERRORS = [MissingVariable, AppError, Refusal]

function explainOne(error: Error): string | undefined {
  // Errors of this program, such as an unavailable database of accepted tools.
  if (OWN_ERRORS.some((kind) => error instanceof kind)) return error.message
  const outbound = outboundCause(error)
  if (outbound) return outbound.message
  if (error instanceof UnauthorizedError) return 'The server requires credentials'
  if (error instanceof OAuthError) return 'The authorization server refused the client'
  if (error instanceof SseError) {
    return error.code === undefined ? 'The server cannot be reached' : explainStatus(error.code)
  }
  if (error instanceof SdkHttpError) return explainStatus(error.status)
  if (error instanceof ProtocolError) return `The server returned the error ${error.code}`
  if (error instanceof SdkError) return explainCode(error)
  if (error.message.startsWith(OTHER_VERSION)) {
    return 'The server speaks a version of the protocol that is not supported'
  }
  return BY_NAME.get(error.name)
}

function explainStatus(status: number): string {
  // An event stream was requested, and something else was returned.
  if (status === 200) return NOT_MCP
  if (status === 401) return 'The server requires credentials, or does not accept these (HTTP 401)'
  if (status === 403) return 'The server denies access (HTTP 403)'
  if (status >= 300 && status < 400) {
    return `The server redirects (HTTP ${status}); set the URL it redirects to`
  }
  if (status === 404) return 'The server returned HTTP 404; check the path of the URL'
  return `The server returned HTTP ${status}`
}

/** What the SDK says, with a class of its own for nothing of it. */
const OTHER_VERSION = "Server's protocol version is not supported"

const VIOLATED = 'The server violated the protocol'
const NOT_MCP = 'This URL is not an MCP server (it may be a web page)'

/** Errors of a stream, of JSON and of the shape of a message. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ['TimeoutError', 'The server did not answer in time'],
  ['SyntaxError', NOT_MCP],
  ['ZodError', VIOLATED],
])

function explainCode({ code, message }: SdkError): string | undefined {
  if (code === SdkErrorCode.RequestTimeout) return 'The server did not answer in time'
  if (code === SdkErrorCode.ClientHttpUnexpectedContent) return NOT_MCP
  if (code === SdkErrorCode.EraNegotiationFailed && message.includes('unusable reply')) {
    return NOT_MCP
  }
  if (code === SdkErrorCode.ConnectionClosed) return 'The server closed the connection'
  if (code === SdkErrorCode.InvalidResult) return VIOLATED
  return undefined
}

function causes(error: unknown): Error[] {
  const errors: Error[] = []
  let current = error
  while (current instanceof Error && errors.length < MAX_DEPTH) {
    errors.push(current)
    current = current.cause
  }
  return errors
}
