import { untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { keepNewest } from '@agent-server/lib/keep-newest.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  type FetchLike,
  type OAuthTokens,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/client'
import { z } from 'zod'
import { explainFailure, kindOf } from './explain-failure.ts'
import { type SessionTarget, withHeaders } from './session.ts'

/** For all requests of one step, such as a renewal. */
export const WAIT_MS = 15_000

/** This server at an authorisation server: as configured, whose secret stays in the configuration, or as it registered itself. */
export const OAuthClient = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  isRegistered: z.boolean(),
})
export type OAuthClient = z.output<typeof OAuthClient>

/** How long a registration is used for further people. An authorisation server that has forgotten it tells only them. */
const REGISTERED_MS = 600_000
const MAX_REGISTERED = 10

/** How this server has registered itself, by where and for what. */
export type Registrations = Map<string, { client: Promise<OAuthClient>; until: number }>

/** What is stored with the tokens. */
function withoutSecret({ client_id, client_secret, isRegistered }: OAuthClient): OAuthClient {
  return isRegistered ? { client_id, client_secret, isRegistered } : { client_id, isRegistered }
}

/** The client that got the tokens, with its present secret; undefined if another one is configured by now. */
export function clientOf(target: SessionTarget, client: OAuthClient): OAuthClient | undefined {
  const configured = configuredClient(target)
  if (!configured) return client.isRegistered ? client : undefined
  return configured.client_id === client.client_id ? configured : undefined
}

/** The authorisation server of an MCP server, as it says itself, and what tokens are to be for. */
async function findAuthorizationServer({ url, oauth }: SessionTarget, fetchFn: FetchLike) {
  const info = await discoverOAuthServerInfo(url, { fetchFn })
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = info
  const issuer = metadata?.issuer ?? authorizationServerUrl
  const expected = oauth?.issuer
  if (expected !== undefined && withoutSlash(expected) !== withoutSlash(issuer)) {
    throw new Refusal('The server names another authorization server than `issuer` in agent.json')
  }
  const resource = resourceMetadata?.resource
  if (resource !== undefined && !isPartOf(url, new URL(resource))) {
    throw new Refusal('The server says that it is another one')
  }
  return { issuer, authorizationServerUrl, metadata, resource }
}

const withoutSlash = (url: string) => url.replace(/\/$/, '')

/** Whether tokens for a resource are for this address (RFC 9728, 3.3, and as the protocol has it, for what is above it). */
const isPartOf = (url: URL, resource: URL) =>
  url.origin === resource.origin &&
  `${withoutSlash(url.pathname)}/`.startsWith(`${withoutSlash(resource.pathname)}/`)

interface PendingSignIn {
  url: string
  verifier: string
  client: OAuthClient
  issuer: string
}

interface Beginning {
  redirectUri: string
  state: string
  registrations: Registrations
}

/** Where a person allows this server to act for them. Throws `fetch_failed`. */
export function beginSignIn(
  target: SessionTarget,
  { redirectUri, state, registrations }: Beginning,
  signal: AbortSignal,
): Promise<PendingSignIn> {
  return explained(target, signal, async (fetchFn) => {
    const { issuer, authorizationServerUrl, metadata, resource } = await findAuthorizationServer(
      target,
      fetchFn,
    )
    const scope = target.oauth?.scope
    const register = async () => ({
      ...(await registerClient(authorizationServerUrl, {
        ...(metadata && { metadata }),
        clientMetadata: {
          client_name: 'Agent Server',
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          ...(scope !== undefined && { scope }),
        },
        // Others wait for it, too, and go on if this person leaves.
        fetchFn: fetchWithin(target, AbortSignal.timeout(WAIT_MS)),
      })),
      isRegistered: true,
    })
    const place = JSON.stringify([issuer, redirectUri, scope])
    const client = configuredClient(target) ?? (await registered(registrations, place, register))
    const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation: asInformation(client),
      redirectUrl: redirectUri,
      state,
      ...(scope !== undefined && { scope }),
      ...(resource !== undefined && { resource }),
    })
    if (!/^https?:$/.test(authorizationUrl.protocol)) {
      throw new Refusal('The authorization server has no page on the web')
    }
    return {
      url: authorizationUrl.href,
      verifier: codeVerifier,
      client: withoutSecret(client),
      issuer,
    }
  })
}

/** One registration for all people, rather than one for each who begins. */
async function registered(
  registrations: Registrations,
  place: string,
  register: () => Promise<OAuthClient>,
): Promise<OAuthClient> {
  const before = registrations.get(place)
  if (before && before.until > performance.now()) return before.client
  const client = register()
  keepNewest(
    registrations,
    place,
    { client, until: performance.now() + REGISTERED_MS },
    MAX_REGISTERED,
  )
  return client.catch((error: unknown) => {
    registrations.delete(place)
    throw error
  })
}

interface Answer extends Omit<PendingSignIn, 'url'> {
  redirectUri: string
  code: string
  /** `iss` of the answer (RFC 9207). */
  answeredBy: string | undefined
}

/** The tokens for the code that came back. Throws `fetch_failed`. */
export function finishSignIn(
  target: SessionTarget,
  { issuer, client, verifier, redirectUri, code, answeredBy }: Answer,
  signal: AbortSignal,
): Promise<OAuthTokens> {
  return explained(target, signal, async (fetchFn) => {
    const server = await findAuthorizationServer(target, fetchFn)
    if (server.issuer !== issuer)
      throw new Refusal('The server has changed its authorization server')
    const present = clientOf(target, client)
    if (!present) throw new Refusal('The server has another client by now')
    const { authorizationServerUrl, metadata, resource } = server
    return exchangeAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation: asInformation(present),
      authorizationCode: code,
      ...(answeredBy !== undefined && { iss: answeredBy }),
      codeVerifier: verifier,
      redirectUri,
      ...(resource !== undefined && { resource }),
      fetchFn,
    })
  })
}

/** New tokens. Throws what the authorisation server and the connection to it say. */
export async function refreshSignIn(
  target: SessionTarget,
  { client, issuer, refreshToken }: { client: OAuthClient; issuer: string; refreshToken: string },
): Promise<OAuthTokens> {
  const signal = AbortSignal.timeout(WAIT_MS)
  const fetchFn = fetchWithin(target, signal)
  const server = await findAuthorizationServer(target, fetchFn)
  // The token is for the one that gave it alone.
  if (server.issuer !== issuer) throw new Refusal('The server has changed its authorization server')
  const { authorizationServerUrl, metadata, resource } = server
  return refreshAuthorization(authorizationServerUrl, {
    ...(metadata && { metadata }),
    clientInformation: asInformation(client),
    refreshToken,
    ...(resource !== undefined && { resource: new URL(resource) }),
    fetchFn,
  })
}

function configuredClient({ oauth }: SessionTarget): OAuthClient | undefined {
  if (oauth?.clientId === undefined) return undefined
  return { client_id: oauth.clientId, client_secret: oauth.clientSecret, isRegistered: false }
}

const asInformation = ({ client_id, client_secret }: OAuthClient) => ({
  client_id,
  ...(client_secret !== undefined && { client_secret }),
})

const fetchWithin = (target: SessionTarget, signal: AbortSignal): FetchLike => {
  const send = withHeaders(target)
  return (url, init) => send(url, { ...init, signal })
}

async function explained<Result>(
  target: SessionTarget,
  signal: AbortSignal,
  work: (fetchFn: FetchLike) => Promise<Result>,
): Promise<Result> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)])
  try {
    return await untilAborted(work(fetchWithin(target, either)), either)
  } catch (cause) {
    signal.throwIfAborted()
    // Its own fields and messages have what the other server said, such as a code or a secret.
    throw new AppError('fetch_failed', explainFailure(cause), { cause: new Error(kindOf(cause)) })
  }
}
