import { MissingVariable } from '@agent-server/lib/environment.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { OutboundError } from '@agent-server/lib/outbound/guarded-fetch.ts'
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import {
  explainFailure,
  isForgottenSession,
  isTimeout,
  kindOf,
} from '../../../src/agent/mcp/explain-failure.ts'

const SECRET = 'Bearer very-secret'
const http = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, SECRET, { status, text: SECRET })
const sdk = (code: SdkErrorCode, message = SECRET, cause?: unknown) =>
  new SdkError(code, message, undefined, { cause })

describe('a failure of a server', () => {
  it.each<[string, unknown, RegExp]>([
    ['a missing variable', new MissingVariable('TOKEN'), /TOKEN is not set/],
    [
      'toolLock that cannot be read',
      new AppError('store_unavailable', 'It is away'),
      /^It is away$/,
    ],
    ['a refused address', new OutboundError('forbidden', 'a.org is private'), /a\.org is private/],
    [
      'one beneath another',
      sdk(SdkErrorCode.EraNegotiationFailed, 'x', new OutboundError('timeout', 'a.org is late')),
      /a\.org is late/,
    ],
    ['no credentials', new UnauthorizedError(SECRET), /requires credentials/],
    ['HTTP 401', http(401), /requires credentials, or does not accept these/],
    ['HTTP 302', http(302), /redirects/],
    ['HTTP 500', http(500), /HTTP 500/],
    ['an error of the protocol', new ProtocolError(-32_000, SECRET), /error -32000/],
    ['a timeout', sdk(SdkErrorCode.RequestTimeout), /in time/],
    [
      'another version',
      new Error("Server's protocol version is not supported: 1.0"),
      /version of the protocol that is not supported/,
    ],
    ['no JSON', new SyntaxError('Unexpected token'), /not an MCP server/],
    ['another content', sdk(SdkErrorCode.ClientHttpUnexpectedContent), /not an MCP server/],
    [
      'an unusable reply',
      sdk(SdkErrorCode.EraNegotiationFailed, 'an unusable reply'),
      /not an MCP server/,
    ],
    ['a broken answer', sdk(SdkErrorCode.InvalidResult), /violated the protocol/],
    ['a closed connection', sdk(SdkErrorCode.ConnectionClosed), /closed the connection/],
    ['anything else', new TypeError(SECRET), /cannot be used/],
    ['what is no error', SECRET, /cannot be used/],
  ])('is told in our own words: %s', (_case, error, words) => {
    expect(explainFailure(error)).toMatch(words)
    expect(explainFailure(error)).not.toContain('secret')
  })

  it('goes to the log as its kinds, without what anybody said', () => {
    const error = sdk(SdkErrorCode.EraNegotiationFailed, SECRET, new TypeError(SECRET))
    expect(kindOf(error)).toBe('SdkError ERA_NEGOTIATION_FAILED < TypeError')
    expect(kindOf(SECRET)).toBe('')
  })

  it.each<[string, unknown, boolean]>([
    ['HTTP 404', http(404), true],
    ['HTTP 400', http(400), true],
    ['HTTP 500', http(500), false],
    ['no connection', sdk(SdkErrorCode.NotConnected), true],
    ['a connection that closed during the call', sdk(SdkErrorCode.ConnectionClosed), false],
    ['a timeout', sdk(SdkErrorCode.RequestTimeout), false],
  ])('lets the call be made again only where nothing was done: %s', (_case, error, again) => {
    expect(isForgottenSession(error)).toBe(again)
  })

  it('is a timeout where the server was silent', () => {
    expect(isTimeout(sdk(SdkErrorCode.RequestTimeout))).toBe(true)
    expect(isTimeout(http(504))).toBe(false)
  })
})
