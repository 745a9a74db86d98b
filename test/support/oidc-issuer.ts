import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'
import { closeAfterUse } from './close-after-use.ts'

const CLIENT_ID = 'agent'
export const CLIENT_SECRET = 'a-secret-of-the-client-for-tests'

/** What the issuer knows of a person, and may change. */
interface Account {
  name?: string
  email?: string
  groups?: unknown
  /** Where claims are that are too large for a token. */
  _claim_names?: Record<string, string>
  _claim_sources?: Record<string, object>
}

interface OidcIssuer {
  url: string
  /** By subject: who signs in types it as the name. */
  accounts: Map<string, Account>
  /** The settings of a server that has its accounts here. */
  settings: Record<string, string>
  /** Where the browser may be sent back to. */
  allow(origin: string): void
  /** From now on, as one that is down. */
  fail(isDown: boolean): void
}

/** A certified issuer (oidc-provider) on the loopback, with its own pages for development. Closes itself. */
export async function startOidcIssuer(configuration: Configuration = {}): Promise<OidcIssuer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const accounts = new Map<string, Account>()
  const redirects: string[] = []
  const returns: string[] = []
  // It copies what it is given: another one for each address that is allowed.
  const open = () =>
    new Provider(url, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: redirects,
          post_logout_redirect_uris: returns,
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      claims: { openid: ['sub'], profile: ['name'], email: ['email'], groups: ['groups'] },
      scopes: ['openid', 'offline_access', 'profile', 'email', 'groups'],
      conformIdTokenClaims: false,
      issueRefreshToken: async () => true,
      pkce: { required: () => true },
      findAccount: (_context, sub) => ({
        accountId: sub,
        claims: async () => ({ sub, ...accounts.get(sub) }),
      }),
      ...configuration,
    }).callback()
  let isDown = false
  let answer: ReturnType<typeof open> | undefined
  server.on('request', (request, response) => {
    if (isDown) response.writeHead(503).end()
    else {
      answer ??= open()
      void answer(request, response)
    }
  })
  closeAfterUse(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  return {
    url,
    accounts,
    settings: {
      OIDC_ISSUER: url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      OIDC_SCOPES: 'openid profile email groups',
      OIDC_ADMIN_GROUP: 'admins',
    },
    allow(origin) {
      redirects.push(`${origin}/ui/sign-in/callback`)
      returns.push(`${origin}/`)
      answer = undefined
    },
    fail: (down) => {
      isDown = down
    },
  }
}
