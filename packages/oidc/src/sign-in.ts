import { AppError } from '@agent-server/lib/errors.ts'
import type { Configuration, IDToken } from 'openid-client'
import { type Issuer, unavailable } from './issuer.ts'
import { type DescribedPerson, personOf, tellsGroups, unknownGroups } from './person.ts'

/** What the browser keeps, sealed, until it comes back from the issuer. */
interface PendingSignIn {
  state: string
  nonce: string
  verifier: string
  redirectUri: string
}

export interface SignedIn extends DescribedPerson {
  /** The issuer's `sub`, whatever claim identifies the person here. */
  subject: string
  /** The issuer's name for the session in this browser, if it has one. */
  issuerSession: string | undefined
  tokens: { idToken: string; refreshToken?: string | undefined }
}

/** What the issuer returns for a person who has signed in before. */
type RefreshedPerson = DescribedPerson & Pick<SignedIn, 'tokens'>

export type CompanySignIn = ReturnType<typeof createCompanySignIn>

/** Signs people in at the issuer, by the authorisation code flow with PKCE. */
export function createCompanySignIn(issuer: Issuer) {
  const { settings } = issuer
  return {
    /** Where the browser goes, and what it has to bring back. Throws `issuer_unavailable`. */
    async begin(redirectUri: string): Promise<{ url: string; pending: PendingSignIn }> {
      const configuration = await issuer.configuration()
      const client = await import('openid-client')
      const pending = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        redirectUri,
      }
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, pending }
    },

    /** Who comes back with `query`. Throws `unauthorized`, `groups_unknown` and `issuer_unavailable`. */
    async finish(query: string, pending: PendingSignIn): Promise<SignedIn> {
      const configuration = await issuer.configuration()
      const client = await import('openid-client')
      const tokens = await client
        .authorizationCodeGrant(configuration, new URL(`${pending.redirectUri}?${query}`), {
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          pkceCodeVerifier: pending.verifier,
          idTokenExpected: true,
        })
        .catch(explain)
      const claims = tokens.claims()
      if (!claims || tokens.id_token === undefined) throw refused('without an ID token')
      return {
        ...personOf(await withGroups(configuration, tokens.access_token, claims), settings),
        subject: claims.sub,
        issuerSession: typeof claims.sid === 'string' ? claims.sid : undefined,
        tokens: { idToken: tokens.id_token, refreshToken: tokens.refresh_token },
      }
    },

    /** The person as they are now. Throws `unauthorized` if the issuer no longer knows them so, and like `finish`. */
    async refresh({
      tokens,
      person,
    }: Pick<SignedIn, 'tokens' | 'person'>): Promise<RefreshedPerson> {
      const configuration = await issuer.configuration()
      const client = await import('openid-client')
      const { refreshToken = '' } = tokens
      const next = await client.refreshTokenGrant(configuration, refreshToken).catch(explain)
      // Not every issuer sends another ID token; the access token then tells who it is.
      const claims = next.claims()
      const known = claims
        ? await withGroups(configuration, next.access_token, claims)
        : await userInfo(configuration, next.access_token, subjectIn(tokens.idToken))
      // Its absence there says nothing if only ID tokens have it.
      if (!claims && person.groups.length > 0 && !tellsGroups(known, settings)) {
        throw unknownGroups('your issuer does not name them again')
      }
      const described = personOf(known, settings)
      if (described.person.id !== person.id) throw refused('for somebody else')
      return {
        ...described,
        tokens: {
          idToken: next.id_token ?? tokens.idToken,
          refreshToken: next.refresh_token ?? refreshToken,
        },
      }
    },

    /** The page on which the browser signs out of the issuer as well; undefined if there is none. */
    async signOutUrl(idToken: string, returnTo: string): Promise<string | undefined> {
      const configuration = await issuer.configuration()
      if (!configuration.serverMetadata().end_session_endpoint) return undefined
      const { buildEndSessionUrl } = await import('openid-client')
      const parameters = { id_token_hint: idToken, post_logout_redirect_uri: returnTo }
      return buildEndSessionUrl(configuration, parameters).href
    },
  }

  /** Some issuers name groups only in their user information. */
  async function withGroups(configuration: Configuration, accessToken: string, claims: IDToken) {
    const { userinfo_endpoint: endpoint } = configuration.serverMetadata()
    if (tellsGroups(claims, settings) || !endpoint) return { ...claims }
    return { ...(await userInfo(configuration, accessToken, claims.sub)), ...claims }
  }
}

async function userInfo(configuration: Configuration, accessToken: string, subject: string) {
  const { fetchUserInfo } = await import('openid-client')
  return { ...(await fetchUserInfo(configuration, accessToken, subject).catch(explain)) }
}

/** The subject in a token that this server has checked before. */
function subjectIn(idToken: string): string {
  const [, payload = ''] = idToken.split('.')
  const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return String(sub)
}

/** Statuses below 500 that say nothing about the person. */
const BUSY = [408, 429]
/** So do these answers: what they refuse is this server. */
const NOT_ABOUT_PEOPLE = [
  'invalid_client',
  'unauthorized_client',
  'server_error',
  'temporarily_unavailable',
]
const OUTAGES = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]

/** What is wrong with an answer is refused; what prevents one can be tried again. */
async function explain(error: unknown): Promise<never> {
  const client = await import('openid-client')
  // What `fetch` throws is a TypeError.
  if (error instanceof TypeError || isOutage(error, client)) throw unavailable(error)
  const refusal = refusalIn(error, client)
  const code = /^[a-z_]{1,40}$/.test(refusal) ? `: ${refusal}` : ''
  throw refused(`that does not fit what was asked for${code}`, error)
}

type Client = typeof import('openid-client')

function isOutage(error: unknown, client: Client): boolean {
  if (NOT_ABOUT_PEOPLE.includes(refusalIn(error, client))) return true
  const status = error instanceof client.ResponseBodyError ? error.status : statusOf(error)
  if (status !== undefined && status >= 400) return status >= 500 || BUSY.includes(status)
  return error instanceof client.ClientError && OUTAGES.includes(error.code ?? '')
}

/** The code with which the issuer has refused. */
function refusalIn(error: unknown, client: Client): string {
  const isRefusal =
    error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError
  return isRefusal ? error.error : ''
}

/** The status of the answer that led to an error, if one did. */
function statusOf(error: unknown): number | undefined {
  let cause = error
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) cause = cause.cause
  return cause instanceof Response ? cause.status : undefined
}

const MAX_CAUSES = 5

function refused(why: string, cause?: unknown): AppError {
  const message = `The sign-in at your company ended with an answer ${why}. Sign in again.`
  return new AppError('unauthorized', message, { cause })
}
