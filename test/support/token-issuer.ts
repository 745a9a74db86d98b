import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose'
import { closeAfterUse } from './close-after-use.ts'
import { requester, startServer, type TestServer } from './server.ts'

export interface Reply {
  status?: number
  type?: string
  body: object | string
}

interface TokenIssuer {
  url: string
  /** How often the keys were fetched. */
  fetches(): number
  /** A token as an issuer signs it, by default for `agent` and for five minutes. */
  sign(claims?: Record<string, unknown>, header?: Partial<JWTHeaderParameters>): Promise<string>
  /** The public key as text, as an attacker would use it as a secret. */
  publicKey(): Promise<string>
  /** From now on, signs with another key. */
  rotate(): Promise<void>
  /** What it answers there from now on: as a status, a type, and an object or text. */
  answer(path: '/token' | '/userinfo', reply: () => Promise<Reply>): void
  /** What the addresses answer from now on, instead of what they should. */
  fail(status: number | undefined): void
}

/** An issuer that only signs tokens, of any shape, on the loopback. Closes itself. */
export async function startTokenIssuer(): Promise<TokenIssuer> {
  let failure: number | undefined
  let fetches = 0
  let key = await newKey(1)
  const replies = new Map<string, () => Promise<Reply>>()
  const described = (path: string | undefined) =>
    path === '/keys'
      ? { keys: [key.jwk] }
      : {
          issuer: url,
          jwks_uri: `${url}/keys`,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          userinfo_endpoint: `${url}/userinfo`,
          id_token_signing_alg_values_supported: ['RS256'],
        }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/keys') fetches += 1
    const reply = replies.get(request.url ?? '') ?? (async () => ({ body: described(request.url) }))
    const {
      status = 200,
      type = 'application/json',
      body,
    }: Reply = failure === undefined ? await reply() : { status: failure, body: {} }
    response.writeHead(status, { 'content-type': type })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  closeAfterUse(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })

  return {
    url,
    fetches: () => fetches,
    sign(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1_000)
      const all = { iss: url, aud: 'agent', sub: 'ada', iat: now, exp: now + 300, ...claims }
      return new SignJWT(all)
        .setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid, ...header })
        .sign(key.privateKey)
    },
    publicKey: () => exportSPKI(key.publicKey),
    async rotate() {
      key = await newKey(Number(key.jwk.kid) + 1)
    },
    answer: (path, reply) => void replies.set(path, reply),
    fail: (status) => {
      failure = status
    },
  }
}

async function newKey(
  number: number,
): Promise<{ privateKey: CryptoKey; publicKey: CryptoKey; jwk: JWK & { kid: string } }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: String(number), alg: 'RS256', use: 'sig' }
  return { privateKey, publicKey, jwk }
}

/** For each code that only people meet, a way to meet it. */
export function peopleFailures({ request }: Pick<TestServer, 'request'>) {
  /** With a token of an issuer, at a server that has not asked it before. */
  const asPerson = async (claims: Record<string, unknown>, failure?: number) => {
    const issuer = await startTokenIssuer()
    issuer.fail(failure)
    const { url } = await startServer({ OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: 'agent' })
    return requester(url, await issuer.sign(claims))('/documents')
  }
  return {
    groups_unknown: () => asPerson({ groups: [1] }),
    issuer_unavailable: () => asPerson({}, 500),
    person_not_found: () => request('/admin/people/user:unknown', { method: 'DELETE' }),
  }
}
