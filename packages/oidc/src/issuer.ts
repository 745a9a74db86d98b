import { AppError } from '@agent-server/lib/errors.ts'
import { isLoopback } from '@agent-server/lib/origins.ts'
import type { ClientAuth, Configuration } from 'openid-client'
import type { PersonSettings } from './person.ts'

interface OidcSettings extends PersonSettings {
  issuer: string
  clientId: string
  /** Absent for a public client, which has PKCE alone. */
  clientSecret?: string | undefined
  /** For whom access tokens must have been issued. */
  audience: string
  /** Whether what signs people in counts at the API, too: only if the operator says so. */
  takesIdTokens: boolean
  /** What sign-in asks for, separated by spaces. */
  scopes: string
}

const TIMEOUT_SECONDS = 5
/** How far the clocks of issuer and server may differ. */
export const CLOCK_SECONDS = 60
/** An issuer that did not answer is asked again after this long; until then it counts as down. */
const COOLDOWN_MS = 5_000
/** Its endpoints may move; its keys are fetched more often. */
const FRESH_MS = 24 * 3_600_000

/** The issuer as it describes itself, read when it is first needed. */
export function createIssuer(settings: OidcSettings, now = () => performance.now()) {
  let configuration: { found: Promise<Configuration>; at: number } | undefined
  let failure: { error: AppError; until: number } | undefined

  const open = async () => {
    try {
      return await discover(settings)
    } catch (cause) {
      configuration = undefined
      failure = { error: unavailable(cause), until: now() + COOLDOWN_MS }
      throw failure.error
    }
  }

  return {
    settings,
    /** Throws `issuer_unavailable`. */
    async configuration(): Promise<Configuration> {
      if (failure && failure.until > now()) throw failure.error
      if (!configuration || configuration.at + FRESH_MS < now()) {
        configuration = { found: open(), at: now() }
      }
      return configuration.found
    },
  }
}

export type Issuer = ReturnType<typeof createIssuer>

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const client = await import('openid-client')
  const url = new URL(issuer)
  const configuration = await client.discovery(
    url,
    clientId,
    { [client.clockTolerance]: CLOCK_SECONDS },
    clientSecret === undefined ? client.None() : secretOf(client, clientSecret),
    {
      timeout: TIMEOUT_SECONDS,
      execute: [
        // The signature of ID tokens, too, although they come over a connection of our own.
        client.enableNonRepudiationChecks,
        ...(isLoopback(url) ? [client.allowInsecureRequests] : []),
      ],
    },
  )
  if (configuration.serverMetadata().issuer.includes('{')) {
    throw new Error('The issuer serves many companies: name yours')
  }
  return configuration
}

/** In the body where the issuer takes it there: not all decode it in a header as the standard has it. */
function secretOf(client: typeof import('openid-client'), secret: string): ClientAuth {
  const [post, basic] = [client.ClientSecretPost(secret), client.ClientSecretBasic(secret)]
  return (issuer, ...rest) => {
    const methods = issuer.token_endpoint_auth_methods_supported
    const authenticate = methods?.includes('client_secret_post') ? post : basic
    return authenticate(issuer, ...rest)
  }
}

export const unavailable = (cause: unknown) =>
  new AppError('issuer_unavailable', 'The issuer of your company’s accounts does not answer', {
    cause,
    retryAfter: TIMEOUT_SECONDS,
  })
