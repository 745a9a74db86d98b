import { AppError } from '@agent-server/lib/errors.ts'
import type { JWTPayload, RemoteJWKSet } from 'jose'
import { CLOCK_SECONDS, type Issuer, unavailable } from './issuer.ts'
import { type DescribedPerson, personOf } from './person.ts'

const MAX_TOKEN_LENGTH = 16_384
const JWT = /^[\w-]{2,}\.[\w-]{2,}\.[\w-]*$/
/** Signatures that only the issuer can make. With a shared secret, its public key would do as one. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** The types that the header of an access token (RFC 9068, 2.1) or of any token may have. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']
/** Keycloak says in the payload what a token is not to be used for. */
const OTHER_USES = ['ID', 'Refresh', 'Logout', 'Offline']
const KEYS = { timeoutDuration: 5_000, cooldownDuration: 30_000, cacheMaxAge: 600_000 }

interface VerifiedToken extends DescribedPerson {
  /** Milliseconds since the epoch. */
  expiresAt: number
}

export type AccessTokens = ReturnType<typeof createAccessTokens>

/** Whether a bearer token is one of an issuer, by its shape: keys of this server have no dots. */
export const isJwt = (token: string) => JWT.test(token)

/** Checks tokens with the issuer's keys, which are fetched again when they are old or one is unknown. */
export function createAccessTokens(issuer: Issuer) {
  let keys: { url: string; set: RemoteJWKSet } | undefined

  const openKeys = async (url: string | undefined) => {
    if (url === undefined) throw unavailable(new Error('The issuer names no jwks_uri'))
    const { createRemoteJWKSet } = await import('jose')
    if (keys?.url !== url) keys = { url, set: createRemoteJWKSet(new URL(url), KEYS) }
    return keys.set
  }

  const verified = async (token: string, audience: string, types: readonly string[]) => {
    if (token.length > MAX_TOKEN_LENGTH) throw refused(`is longer than ${MAX_TOKEN_LENGTH}`)
    const { issuer: iss, jwks_uri: url } = (await issuer.configuration()).serverMetadata()
    const set = await openKeys(url)
    const { jwtVerify } = await import('jose')
    const options = {
      issuer: iss,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_SECONDS,
      requiredClaims: ['iat'],
    }
    const { payload, protectedHeader } = await jwtVerify(token, set, options).catch(explain)
    const { typ } = protectedHeader
    if (typ !== undefined && !types.includes(typ.toLowerCase())) throw refused('is of another type')
    return payload
  }

  return {
    /**
     * Throws `unauthorized`, `groups_unknown`, and `issuer_unavailable` while the keys cannot be fetched.
     */
    async verify(token: string): Promise<VerifiedToken> {
      const { settings } = issuer
      const payload = await verified(token, settings.audience, TYPES)
      if (payload.exp === undefined) throw refused('never expires')
      if (isIdToken(payload) && !settings.takesIdTokens) throw refused('is an ID token')
      if (OTHER_USES.includes(String(payload.typ)) || Object.hasOwn(payload, 'events'))
        throw refused('is no access token')
      return { ...personOf(payload, settings), expiresAt: (payload.exp + CLOCK_SECONDS) * 1_000 }
    },

    /** The claims of what the issuer sends when somebody has signed out elsewhere (Back-Channel Logout, 2.4). */
    async verifyLogout(token: string): Promise<JWTPayload> {
      const payload = await verified(token, issuer.settings.clientId, ['jwt', 'logout+jwt'])
      if (payload.exp === undefined) throw refused('never expires')
      return payload
    },
  }
}

/** By claims that only ID tokens have (OpenID Connect Core, 3.1.2.1 and 3.3.2.11). */
const isIdToken = (payload: JWTPayload) =>
  ['nonce', 'at_hash', 'c_hash'].some((claim) => Object.hasOwn(payload, claim))

async function explain(error: unknown): Promise<never> {
  const { errors } = await import('jose')
  if (error instanceof errors.JWTExpired) throw refused('has expired', error)
  if (error instanceof errors.JWTClaimValidationFailed) {
    throw refused(`has another "${error.claim}" than it must have here`, error)
  }
  const isWrong = WRONG.some((code) => error instanceof errors.JOSEError && error.code === code)
  if (isWrong) throw refused('is invalid', error)
  throw unavailable(error)
}

/** Codes of what is wrong with a token; any other failure is one of fetching keys. */
const WRONG = [
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JOSE_NOT_SUPPORTED',
  'ERR_JWS_INVALID',
  'ERR_JWT_INVALID',
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
]

function refused(why: string, cause?: unknown): AppError {
  return new AppError('unauthorized', `The access token ${why}`, { cause })
}
