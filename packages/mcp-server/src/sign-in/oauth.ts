import { hash } from 'node:crypto'
import { isLoopback } from '@agent-server/lib/origins.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import { type Caller, isGrant } from '@agent-server/schemas/operator/api-key.ts'
import { z } from 'zod'
import type { Identify } from '../services.ts'
import type { ClientDocuments } from './client-documents.ts'
import { ACCESS_SECONDS, CODE_MS, type Grants, REFRESH_MS } from './grants.ts'
import { MAX_URI, OAuthRefusal, Registration } from './registration.ts'
import { createSeals } from './sealed.ts'

const CLIENT_MS = 365 * 24 * 3_600_000

const SealedClient = Registration.extend({ until: z.number() })
const Generation = z.object({ id: z.string(), digest: z.string(), client: z.string() })
const Refresh = Generation.extend({ until: z.number() })
const Code = Refresh.extend({ redirect: z.string(), challenge: z.string() })

/** What programs may be allowed; the scope `ingest` would let them change and delete documents, too. */
export const SCOPES = ['query', 'chat'] as const

const Scopes = z
  .string()
  .max(200)
  .transform((text) => text.split(' ').filter((scope) => scope !== ''))
  .pipe(z.array(z.enum(SCOPES)))
  .transform((scopes) => (scopes.length > 0 ? scopes : SCOPES))

const AuthorizationRequest = z.object({
  response_type: z.literal('code'),
  code_challenge_method: z.literal('S256'),
  code_challenge: z.string().regex(/^[\w-]{43}$/),
})

interface Consent {
  resource: string
  caller: Caller
  /** Address of the person's browser, or of the program. */
  address: string
}

export type Parameters = Readonly<Record<string, string>>
export type OAuth = ReturnType<typeof createOAuth>

/**
 * OAuth 2.1 for public clients, which register or have a document about them at their own URL: only whoever asked for a
 * code can exchange it. What a client holds is sealed and not stored; the keys that it gets are in the store like all
 * others.
 */
export function createOAuth(grants: Grants, documents: ClientDocuments, serverApiKey: string) {
  const seals = createSeals(serverApiKey)

  /** The client and where it wants the answer: nothing may be sent there before this has returned. */
  const findClient = async (parameters: Parameters, address: string) => {
    const { client_id = '', redirect_uri = '' } = parameters
    const isDocument = client_id.startsWith('https://')
    const client = isDocument
      ? await documents.read(client_id, address)
      : await seals.open('client', client_id, SealedClient)
    if (!client) throw new OAuthRefusal('invalid_client', 'This program is not registered any more')
    if (!client.redirect_uris.some((registered) => isSameRedirect(registered, redirect_uri))) {
      throw new OAuthRefusal('invalid_request', 'redirect_uri is not one that was registered')
    }
    const host = isDocument ? new URL(client_id).host : undefined
    return { name: client.client_name, host, redirect: new URL(redirect_uri) }
  }

  const issue = async (generation: z.output<typeof Generation>, address: string) => {
    const renewal = await grants.renew(generation, address)
    if (!renewal) throw invalidGrant()
    const { grant, token, scopes, seconds } = renewal
    const refresh = { ...grant, client: generation.client }
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: seconds,
      scope: scopes.join(' '),
      refresh_token: await seals.seal('refresh', refresh, REFRESH_MS + ACCESS_SECONDS * 1_000),
    }
  }

  const exchange = async (parameters: Parameters, address: string) => {
    const code = await seals.open('code', parameters.code ?? '', Code)
    const isValid =
      code?.client === digestOf(parameters.client_id ?? '') &&
      code.redirect === parameters.redirect_uri &&
      /^[\w.~-]{43,128}$/.test(parameters.code_verifier ?? '') &&
      isSameSecret(digestOf(parameters.code_verifier ?? ''), code.challenge)
    if (!isValid) throw invalidGrant()
    return issue(code, address)
  }

  const refresh = async (parameters: Parameters, address: string) => {
    const token = await seals.open('refresh', parameters.refresh_token ?? '', Refresh)
    if (token?.client !== digestOf(parameters.client_id ?? '')) throw invalidGrant()
    return issue(token, address)
  }

  return {
    findClient,

    async register(client: z.output<typeof Registration>) {
      const clientId = await seals.seal('client', client, CLIENT_MS)
      return {
        client_id: clientId,
        client_id_issued_at: Math.floor(Date.now() / 1_000),
        ...client,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }
    },

    /** The code for a request that the holder of a key has allowed. Throws AppError. */
    async allow(parameters: Parameters, { resource, caller, address }: Consent): Promise<string> {
      const { name, redirect } = await findClient(parameters, address)
      const { challenge, scopes } = readRequest(parameters, resource)
      const program = { name: `${name} (${redirect.host})`.slice(0, 100), scopes }
      const grant = await grants.begin(program, { caller, address })
      const client = digestOf(parameters.client_id ?? '')
      const code = { ...grant, client, redirect: parameters.redirect_uri, challenge }
      return seals.seal('code', code, CODE_MS)
    },

    async token(parameters: Parameters, { resource, address }: Omit<Consent, 'caller'>) {
      checkResource(parameters, resource)
      if (parameters.grant_type === 'authorization_code') return exchange(parameters, address)
      if (parameters.grant_type === 'refresh_token') return refresh(parameters, address)
      throw new OAuthRefusal('unsupported_grant_type', 'authorization_code or refresh_token')
    },

    /** Revokes the key of a token; either token may be presented (RFC 7009). */
    async revoke(token: string, address: string, identify: Identify) {
      const refreshToken = await seals.open('refresh', token, Refresh)
      const id = refreshToken?.id ?? (await identify(token))?.key?.id
      if (id !== undefined && isGrant({ id })) await grants.revoke(id, address)
    },
  }
}

/** The requested access; throws the error that the client gets at its redirect URI. */
export function readRequest(parameters: Parameters, resource: string) {
  const request = AuthorizationRequest.safeParse(parameters)
  if (!request.success) {
    const [name] = request.error.issues[0]?.path ?? []
    if (name === 'response_type') throw new OAuthRefusal('unsupported_response_type', 'only code')
    throw new OAuthRefusal('invalid_request', `${String(name)} is missing or not supported`)
  }
  checkResource(parameters, resource)
  const scopes = Scopes.safeParse(parameters.scope ?? '')
  if (!scopes.success) throw new OAuthRefusal('invalid_scope', 'there are query and chat')
  return { challenge: request.data.code_challenge, scopes: scopes.data }
}

const digestOf = (text: string) => hash('sha256', text, 'base64url')
const invalidGrant = () =>
  new OAuthRefusal('invalid_grant', 'the code or token is invalid, expired, used or revoked')

/** RFC 8707: tokens are for this server's /mcp alone. */
function checkResource({ resource: requested }: Parameters, resource: string): void {
  if (requested === undefined || URL.parse(requested)?.href === resource) return
  throw new OAuthRefusal('invalid_target', `resource must be ${resource}`)
}

/** Compared as text, but for the port of this machine, which programs choose anew each time (RFC 8252, 7.3). */
function isSameRedirect(registered: string, requested: string): boolean {
  if (registered === requested) return true
  const [one, other] = [URL.parse(registered), URL.parse(requested)]
  if (!one || !other || !isLoopback(one) || !isLoopback(other)) return false
  one.port = other.port
  return requested.length <= MAX_URI && one.href === requested
}
