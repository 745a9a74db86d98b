import { hash, randomBytes, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiKeyCreated, ApiKeyList } from '@agent-server/schemas/operator/api-key.ts'
import { AuditPage } from '@agent-server/schemas/operator/audit.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { onlyLong } from '../support/long.ts'
import { requester, startServer, TEST_KEY, type TestServer } from '../support/server.ts'

const server = await startServer()
const REDIRECT = 'http://127.0.0.1:5555/callback'
const Registered = z.object({ client_id: z.string() })
const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
  scope: z.string(),
})
const Refused = z.object({ error: z.string() })

const post = ({ url }: Pick<TestServer, 'url'>, path: string, fields: Record<string, string>) =>
  fetch(`${url}/oauth/${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })

const register = async (body: unknown, { url } = server) =>
  fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const knownClient = async (uris = [REDIRECT], name = 'Assistant') => {
  const registered = await register({ client_name: name, redirect_uris: uris })
  expect(registered.status).toBe(201)
  return Registered.parse(await registered.json()).client_id
}

const client = await knownClient()
const verifier = randomBytes(32).toString('base64url')
const ASKED = {
  response_type: 'code',
  client_id: client,
  redirect_uri: REDIRECT,
  code_challenge: hash('sha256', verifier, 'base64url'),
  code_challenge_method: 'S256',
  resource: `${server.url}/mcp`,
  state: 'the state',
}

const allow = (more: Record<string, string> = {}) =>
  post(server, 'authorize', { ...ASKED, key: TEST_KEY, decision: 'allow', ...more })
const show = (more: Record<string, string> = {}) =>
  fetch(`${server.url}/oauth/authorize?${new URLSearchParams({ ...ASKED, ...more })}`, {
    redirect: 'manual',
  })
const backTo = (response: Response) => {
  expect(response.status).toBe(303)
  return new URL(response.headers.get('location') ?? '')
}
const codeOf = async (more: Record<string, string> = {}) =>
  backTo(await allow(more)).searchParams.get('code') ?? ''
const exchangeOf = (code: string, more: Record<string, string> = {}) => ({
  grant_type: 'authorization_code',
  code,
  client_id: client,
  redirect_uri: REDIRECT,
  code_verifier: verifier,
  ...more,
})
const tokensOf = async (more: Record<string, string> = {}) => {
  const exchanged = await post(server, 'token', exchangeOf(await codeOf(more)))
  expect(exchanged.status).toBe(200)
  return Tokens.parse(await exchanged.json())
}
const refresh = (token: string, more: Record<string, string> = {}) =>
  post(server, 'token', {
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: client,
    ...more,
  })
const errorOf = async (response: Response) => {
  expect(response.status).toBe(400)
  return Refused.parse(await response.json()).error
}
const queryWith = async (token: string) =>
  (await requester(server.url, token)('/query', { body: { query: 'x' } })).status
const idOf = (token: string) => token.split('_')[1]

it('leads a client without a key to where it can sign in', async () => {
  const refused = await fetch(`${server.url}/mcp`, { method: 'POST', body: '{}' })
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_001 } })
  const challenge = refused.headers.get('www-authenticate') ?? ''
  const metadata = /^Bearer resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? ''
  expect(await (await fetch(metadata)).json()).toMatchObject({
    resource: `${server.url}/mcp`,
    authorization_servers: [server.url],
  })
  const found = await fetch(`${server.url}/.well-known/oauth-authorization-server`)
  expect(await found.json()).toMatchObject({
    issuer: server.url,
    token_endpoint: `${server.url}/oauth/token`,
    code_challenge_methods_supported: ['S256'],
  })
})

it('gives a key of its own, which is listed and can be revoked', async () => {
  const back = backTo(await allow())
  expect(back.origin + back.pathname).toBe(REDIRECT)
  expect(back.searchParams.get('state')).toBe('the state')
  expect(back.searchParams.get('iss')).toBe(server.url)
  const code = back.searchParams.get('code') ?? ''
  const tokens = Tokens.parse(await (await post(server, 'token', exchangeOf(code))).json())
  expect(tokens).toMatchObject({ scope: 'query chat', expires_in: 3_600 })
  expect(await queryWith(tokens.access_token)).toBe(200)
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  expect((await fetch(`${server.url}/admin/keys`, { headers })).status).toBe(403)

  const { keys } = ApiKeyList.parse(await (await server.request('/admin/keys')).json())
  const id = idOf(tokens.access_token)
  expect(keys.find((key) => key.id === id)?.name).toBe('Assistant (127.0.0.1:5555)')
  await server.request(`/admin/keys/${id}`, { method: 'DELETE' })
  expect(await queryWith(tokens.access_token)).toBe(401)
  expect(await errorOf(await refresh(tokens.refresh_token))).toBe('invalid_grant')
})

it('takes a code once, and what was got with it goes if it comes again', async () => {
  const code = await codeOf()
  const tokens = Tokens.parse(await (await post(server, 'token', exchangeOf(code))).json())
  expect(await errorOf(await post(server, 'token', exchangeOf(code)))).toBe('invalid_grant')
  expect(await queryWith(tokens.access_token)).toBe(401)
})

it('takes a refresh token once; a stolen one ends the access of both', async () => {
  const first = await tokensOf()
  const second = Tokens.parse(await (await refresh(first.refresh_token)).json())
  expect(await queryWith(first.access_token)).toBe(401)
  expect(await queryWith(second.access_token)).toBe(200)
  expect(await errorOf(await refresh(first.refresh_token))).toBe('invalid_grant')
  expect(await queryWith(second.access_token)).toBe(401)
})

it('lets one of several exchanges at the same time succeed at most', async () => {
  const code = await codeOf()
  const all = await Promise.all([1, 2, 3, 4].map(() => post(server, 'token', exchangeOf(code))))
  expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
})

it('revokes by either token', async () => {
  for (const kind of ['access_token', 'refresh_token'] as const) {
    const tokens = await tokensOf()
    expect((await post(server, 'revoke', { token: tokens[kind] })).status).toBe(200)
    expect(await queryWith(tokens.access_token)).toBe(401)
  }
})

it('never gives more than the key that allowed it, and goes with it', async () => {
  const wanted = { name: 'narrow', scopes: ['query'], collections: ['red'], requestsPerMinute: 4 }
  const made = await server.request('/admin/keys', { body: wanted })
  const { id, secret } = ApiKeyCreated.parse(await made.json())
  const tokens = await tokensOf({ key: secret })
  expect(tokens.scope).toBe('query')
  const { keys } = ApiKeyList.parse(await (await server.request('/admin/keys')).json())
  const derived = keys.find((key) => key.id === idOf(tokens.access_token))
  expect(derived).toMatchObject({ scopes: ['query'], collections: ['red'], createdBy: id })
  expect((await allow({ key: tokens.access_token })).status).toBe(403)
  expect((await allow({ key: secret, scope: 'chat' })).status).toBe(403)
  // The requests of both count together: four in a minute.
  expect(await queryWith(tokens.access_token)).toBe(200)
  expect(await queryWith(secret)).toBe(429)
  await server.request(`/admin/keys/${id}`, { method: 'DELETE' })
  expect(await queryWith(tokens.access_token)).toBe(401)
  expect(await errorOf(await refresh(tokens.refresh_token))).toBe('invalid_grant')
})

it.each<[string, Record<string, string>]>([
  ['another verifier', { code_verifier: randomBytes(32).toString('base64url') }],
  ['no verifier', { code_verifier: '' }],
  ['another redirect URI', { redirect_uri: 'http://127.0.0.1:5556/callback' }],
  ['another client', { client_id: await knownClient([REDIRECT], 'Other') }],
])('exchanges no code with %s, which leaves it to its owner', async (_case, more) => {
  const code = await codeOf()
  expect(await errorOf(await post(server, 'token', exchangeOf(code, more)))).toBe('invalid_grant')
  expect((await post(server, 'token', exchangeOf(code))).status).toBe(200)
})

it('takes no code as a refresh token, no refresh token as a code, and neither as a key', async () => {
  const code = await codeOf()
  expect(await errorOf(await refresh(code))).toBe('invalid_grant')
  const { refresh_token: token } = await tokensOf()
  expect(await errorOf(await post(server, 'token', exchangeOf(token)))).toBe('invalid_grant')
  expect(await queryWith(token)).toBe(401)
})

it.each<[string, Record<string, string>]>([
  ['another host', { redirect_uri: 'https://evil.example/callback' }],
  ['another path', { redirect_uri: 'http://127.0.0.1:5555/callback/more' }],
  ['a user in it', { redirect_uri: 'http://a@127.0.0.1:5555/callback' }],
  ['a changed client', { client_id: client.replace(/^./, 'x') }],
])('sends nobody to a redirect URI with %s', async (_case, more) => {
  for (const response of [await show(more), await allow(more)]) {
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
    expect(await response.text()).toContain('Refused')
  }
})

it('takes another port of this machine', async () => {
  const back = backTo(await allow({ redirect_uri: 'http://127.0.0.1:6666/callback' }))
  expect(back.port).toBe('6666')
})

it.each<[string, Record<string, string>]>([
  ['only code', { response_type: 'token' }],
  ['code_challenge_method is missing or not supported', { code_challenge_method: 'plain' }],
  ['code_challenge is missing or not supported', { code_challenge: '' }],
  ['there are query and chat', { scope: 'admin' }],
  ['there are query and chat', { scope: 'query ingest' }],
  ['resource must be', { resource: 'https://elsewhere.example/mcp' }],
])('shows the person that %s, and sends nobody to the client', async (words, more) => {
  const refused = await allow(more)
  expect(refused.status).toBe(400)
  expect(refused.headers.has('location')).toBe(false)
  expect(await refused.text()).toContain(words)
})

it('puts into the audit log which key was made for a program, by whom, and that it gave it back', async () => {
  const { access_token, refresh_token } = await tokensOf({ scope: 'query' })
  const id = idOf(access_token) ?? ''
  await post(server, 'revoke', { token: refresh_token })
  const log = await server.request(`/admin/audit?target=${id}`)
  expect(AuditPage.parse(await log.json()).entries).toMatchObject([
    { action: 'revokeApiKey', who: `key:${id}`, address: '127.0.0.1', status: 204 },
    {
      action: 'createApiKey',
      who: 'master',
      address: '127.0.0.1',
      status: 201,
      targets: { id, fields: ['name', 'scopes'] },
    },
  ])
})

it('gives a program no way to add, change or delete documents, and offers none', async () => {
  for (const path of ['oauth-authorization-server', 'oauth-protected-resource/mcp']) {
    const metadata = await fetch(`${server.url}/.well-known/${path}`)
    expect(await metadata.json()).toMatchObject({ scopes_supported: ['query', 'chat'] })
  }
  const id = await server.ingest({ text: 'Whoever may change it, may.' })
  const { access_token } = await tokensOf()
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${access_token}` } }
  const url = new URL(`${server.url}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  onTestFinished(() => client.close())
  const tools = (await client.listTools()).tools.map(({ name }) => name)
  expect(tools).toContain('query')
  expect(tools).not.toContain('add_document')
  const request = requester(server.url, access_token)
  const changes = [
    request('/documents', { body: { text: 'One more.' } }),
    request(`/documents/${id}`, { method: 'PATCH', body: { title: 'Other' } }),
    request(`/documents/${id}`, { method: 'DELETE' }),
  ]
  for (const change of changes) expect((await change).status).toBe(403)
})

it('tells the client that it was denied', async () => {
  const { searchParams } = backTo(await allow({ decision: 'deny' }))
  expect(searchParams.get('error')).toBe('access_denied')
  expect(searchParams.get('state')).toBe('the state')
  expect(searchParams.has('code')).toBe(false)
})

it.each([
  'http://example.org/',
  'javascript:alert(1)',
  'https://u:p@example.org/',
  'https://example.org/#a',
  'https://ex;ample.org/',
  'cursor://callback',
])('registers no %s', async (uri) => {
  expect(await errorOf(await register({ redirect_uris: [uri] }))).toBe('invalid_redirect_uri')
})

it('shows who asks, as text, in no frame, and sends the form nowhere else', async () => {
  const name = '<script>alert("x")</script>'
  const page = await show({ client_id: await knownClient([REDIRECT], name) })
  expect(page.status).toBe(200)
  expect(page.headers.get('x-frame-options')).toBe('DENY')
  const policy = page.headers.get('content-security-policy')
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("form-action 'self' http://127.0.0.1:5555;")
  const text = await page.text()
  expect(text).not.toContain('<script')
  expect(text).toContain('127.0.0.1:5555')
  expect((await register({ client_name: 'a\u202Eb', redirect_uris: [REDIRECT] })).status).toBe(400)
})

it('takes no form of another page, and none with a parameter twice', async () => {
  const form = new URLSearchParams({ ...ASKED, key: TEST_KEY, decision: 'allow' })
  const send = (body: URLSearchParams, site: string) =>
    fetch(`${server.url}/oauth/authorize`, {
      method: 'POST',
      body,
      headers: { 'sec-fetch-site': site },
      redirect: 'manual',
    })
  expect((await send(form, 'cross-site')).status).toBe(403)
  form.append('redirect_uri', 'https://evil.example/')
  expect((await send(form, 'same-origin')).status).toBe(400)
})

it('offers sign-in at no address that only the caller names', async () => {
  const headers = { 'x-forwarded-host': 'evil.example' }
  const found = await fetch(`${server.url}/.well-known/oauth-authorization-server`, { headers })
  expect(found.status).toBe(404)
  const refused = await fetch(`${server.url}/mcp`, { method: 'POST', body: '{}', headers })
  expect(refused.headers.get('www-authenticate')).toBe('Bearer')
})

it('names PUBLIC_URL behind a proxy, limits wrong keys, and another server knows no client of this one', async () => {
  const other = await startServer({
    PUBLIC_URL: 'https://agent.example.org',
    SERVER_API_KEY: 'another-key-for-tests',
  })
  const found = await fetch(`${other.url}/.well-known/oauth-protected-resource/mcp`)
  expect(await found.json()).toMatchObject({ resource: 'https://agent.example.org/mcp' })
  expect((await post(other, 'authorize', ASKED)).status).toBe(400)
  const registered = await register({ redirect_uris: [REDIRECT] }, other)
  const { client_id } = Registered.parse(await registered.json())
  const { resource: _, ...asked } = { ...ASKED, client_id, decision: 'allow' }
  const statuses: number[] = []
  for (let attempt = 0; attempt < 11; attempt++) {
    statuses.push((await post(other, 'authorize', { ...asked, key: 'wrong' })).status)
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429])
})

it('goes on after a restart, which forgets no code and no refresh token', onlyLong, async () => {
  const directory = join(tmpdir(), `agent-server-${randomUUID()}`)
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const { resource: _, ...asked } = ASKED
  const before = await startServer({ DATA_DIR: directory })
  const allowed = await post(before, 'authorize', { ...asked, key: TEST_KEY, decision: 'allow' })
  const code = backTo(allowed).searchParams.get('code') ?? ''
  await before.close()
  const after = await startServer({ DATA_DIR: directory })
  const tokens = Tokens.parse(await (await post(after, 'token', exchangeOf(code))).json())
  const sent = { grant_type: 'refresh_token', client_id: client }
  const again = await post(after, 'token', { ...sent, refresh_token: tokens.refresh_token })
  expect(again.status).toBe(200)
})

it(
  'limits the registrations and token requests of an address, and counts each on its own',
  onlyLong,
  async () => {
    const other = await startServer()
    const statuses = async (times: number, send: () => Promise<Response>) => {
      const responses: Response[] = []
      for (let time = 0; time < times; time += 1) responses.push(await send())
      return responses
    }
    const registered = await statuses(61, () => register({ redirect_uris: [REDIRECT] }, other))
    expect(registered.map(({ status }) => status)).toEqual([...Array(60).fill(201), 429])
    const retryAfter = Number(registered.at(-1)?.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThanOrEqual(60)
    const asked = await statuses(601, () => post(other, 'token', { grant_type: 'refresh_token' }))
    expect(asked.map(({ status }) => status)).toEqual([...Array(600).fill(400), 429])
    expect((await fetch(`${other.url}/oauth/authorize`)).status).toBe(400)
  },
)
