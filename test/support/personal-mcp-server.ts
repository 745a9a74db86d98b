import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { handTo, startHttp, startModernServer } from './mcp-servers.ts'

export interface PersonalMcpServer {
  url: string
  /** The tokens that came to the MCP server, in order. */
  tokens: string[]
  /** What came to the token endpoint, in order. */
  grants: string[]
  /** One for each client that has registered itself. */
  registrations: string[]
  /** From now on, no token of this account counts, and none is given. */
  revoke(login: string): void
  /** The token endpoint answers with this error, until it is undefined again. */
  refuseWith(error: string | undefined): void
  /** Access tokens that are given from now on expire after so many seconds. */
  expireAfter(seconds: number): void
  /** Waits before tools answer. */
  holdCalls(until: Promise<unknown>): void
  /** Waits before tokens are given, or a client is registered. */
  hold(until: Promise<unknown>): void
}

/** An MCP server at which each account has tools of its own, with its authorisation server. Both close themselves. */
export async function startPersonalServer(logins: readonly string[]): Promise<PersonalMcpServer> {
  const tokens: string[] = []
  const grants: string[] = []
  const registrations: string[] = []
  const codes = new Map<string, { login: string; challenge: string; redirectUri: string }>()
  /** By token, whose it is; refresh tokens count once. */
  const access = new Map<string, string>()
  const refresh = new Map<string, string>()
  const revoked = new Set<string>()
  let seconds = 3_600
  let heldCalls: Promise<unknown> = Promise.resolve()
  let refusal: string | undefined
  let held: Promise<unknown> = Promise.resolve()

  const servers = new Map(
    await Promise.all(
      logins.map(async (login) => {
        const { url } = await startModernServer(() => serverOf(login, () => heldCalls))
        return [login, handTo(url)] as const
      }),
    ),
  )

  const json = (response: ServerResponse, body: object, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const give = (response: ServerResponse, login: string) => {
    const [token, next] = [`canary-${login}-${randomUUID()}`, `refresh-${login}-${randomUUID()}`]
    access.set(token, login)
    refresh.set(next, login)
    const tokens = { access_token: token, refresh_token: next }
    json(response, { ...tokens, token_type: 'Bearer', expires_in: seconds })
  }
  const refusalFor = (login: string | undefined) => {
    const isKnown = login !== undefined && !revoked.has(login)
    return refusal ?? (isKnown ? undefined : 'invalid_grant')
  }
  const grant = async (incoming: IncomingMessage, response: ServerResponse) => {
    const form = new URLSearchParams(await text(incoming))
    grants.push(form.get('grant_type') ?? '')
    await held
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const verifier = form.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const isRight =
      code?.challenge === challenge && code.redirectUri === form.get('redirect_uri') && code
    const used = form.get('refresh_token') ?? ''
    const login = isRight ? isRight.login : refresh.get(used)
    const error = refusalFor(login)
    if (error !== undefined) return void json(response, { error }, 400)
    refresh.delete(used)
    give(response, login ?? '')
  }
  const issuer = await startHttp((incoming, response) => {
    const base = `http://${incoming.headers.host}`
    const { pathname, searchParams } = new URL(incoming.url ?? '/', base)
    if (pathname === '/token') return void grant(incoming, response)
    incoming.resume()
    if (pathname === '/register') {
      registrations.push(pathname)
      const registered = { client_id: 'registered', redirect_uris: [] }
      return void held.then(() => json(response, registered, 201))
    }
    if (pathname === '/authorize') {
      const code = randomUUID()
      const redirectUri = searchParams.get('redirect_uri') ?? ''
      const challenge = searchParams.get('code_challenge') ?? ''
      codes.set(code, { login: searchParams.get('login') ?? '', challenge, redirectUri })
      const query = { code, state: searchParams.get('state') ?? '', iss: base }
      const location = `${redirectUri}?${new URLSearchParams(query)}`
      return void response.writeHead(302, { location }).end()
    }
    json(response, {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      registration_endpoint: `${base}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
    })
  })

  const resource = await startHttp((incoming, response) => {
    const base = `http://${incoming.headers.host}`
    if (incoming.url?.includes('oauth-protected-resource')) {
      return void json(response, { resource: `${base}/mcp`, authorization_servers: [issuer.url] })
    }
    const token = incoming.headers.authorization?.replace('Bearer ', '') ?? ''
    tokens.push(token)
    const login = access.get(token)
    const serve = login !== undefined && !revoked.has(login) && servers.get(login)
    if (serve) return serve(incoming, response)
    const metadata = `${base}/.well-known/oauth-protected-resource/mcp`
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end()
  })

  return {
    url: `${resource.url}/mcp`,
    tokens,
    grants,
    registrations,
    revoke: (login) => void revoked.add(login),
    holdCalls(until) {
      heldCalls = until
    },
    refuseWith(error) {
      refusal = error
    },
    expireAfter(next) {
      seconds = next
    },
    hold(until) {
      held = until
    },
  }
}

function serverOf(login: string, until: () => Promise<unknown>): McpServer {
  const server = new McpServer({ name: 'personal', version: '1.0.0' }, {})
  const empty = z.object({})
  server.registerTool(
    'whoami',
    { description: 'Says who you are', inputSchema: empty },
    async () => {
      await until()
      return { content: [{ type: 'text', text: `You are ${login}` }] }
    },
  )
  server.registerTool(
    `notes_of_${login}`,
    { description: 'Reads notes', inputSchema: empty },
    () => ({ content: [{ type: 'text', text: `Notes of ${login}` }] }),
  )
  return server
}
