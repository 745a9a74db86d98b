import { hash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createCertificateAuthority, trust } from '../support/certificates.ts'
import { closeAfterUse } from '../support/close-after-use.ts'
import { requester, startServer, TEST_KEY } from '../support/server.ts'

const REDIRECT = 'http://127.0.0.1:5555/callback'
const authority = await createCertificateAuthority()
trust(authority.certificate)
const { certificate, key } = await authority.issue('DNS:localhost,IP:127.0.0.1')

/** What is said at each path of a host, and how often it was asked for. */
const documents = new Map<string, string | number | 'hang'>()
const asked: string[] = []
const host = createServer(
  { cert: await readFile(certificate), key: await readFile(key) },
  ({ url = '' }, answer) => {
    asked.push(url)
    const said = documents.get(url) ?? 404
    if (said === 'hang') return
    if (typeof said === 'string') return answer.end(said)
    answer.writeHead(said, said === 302 ? { location: '/client.json' } : {}).end('no')
  },
)
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
closeAfterUse(() => {
  host.closeAllConnections()
  host.close()
})
const { port } = z.object({ port: z.number() }).parse(host.address())
const ORIGIN = `https://localhost:${port}`
const server = await startServer({ OUTBOUND_ALLOW: 'localhost' })

const describeAt = (path: string, more: object = {}) => {
  const id = `${ORIGIN}${path}`
  const said = { client_id: id, client_name: 'Editor', redirect_uris: [REDIRECT], ...more }
  documents.set(path, JSON.stringify(said))
  return id
}

const verifier = randomBytes(32).toString('base64url')
const request = (client_id: string, more: Record<string, string> = {}) => ({
  response_type: 'code',
  client_id,
  redirect_uri: REDIRECT,
  code_challenge: hash('sha256', verifier, 'base64url'),
  code_challenge_method: 'S256',
  ...more,
})
const show = (client: string, more: Record<string, string> = {}, { url } = server) =>
  fetch(`${url}/oauth/authorize?${new URLSearchParams(request(client, more))}`)
const post = (path: string, fields: Record<string, string>) =>
  fetch(`${server.url}/oauth/${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })

it('is offered in the metadata of the server', async () => {
  const found = await fetch(`${server.url}/.well-known/oauth-authorization-server`)
  expect(await found.json()).toMatchObject({ client_id_metadata_document_supported: true })
})

it('lets a client sign in whose id is the URL of a document about it, which is read once', async () => {
  const uris = ['editor://callback', REDIRECT]
  const client = describeAt('/client.json', { redirect_uris: uris, logo_uri: `${ORIGIN}/logo` })
  const page = await (await show(client)).text()
  expect(page).toContain('<strong>Editor</strong>')
  expect(page).toContain(`<strong>localhost:${port}</strong>`)
  const allowed = await post('authorize', {
    ...request(client),
    key: TEST_KEY,
    decision: 'allow',
  })
  const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT }
  const exchanged = await post('token', {
    ...exchange,
    client_id: client,
    code_verifier: verifier,
  })
  const Token = z.object({ access_token: z.string(), refresh_token: z.string() })
  const { access_token, refresh_token } = Token.parse(await exchanged.json())
  const found = await requester(server.url, access_token)('/query', { body: { query: 'x' } })
  expect(found.status).toBe(200)
  const again = { grant_type: 'refresh_token', refresh_token, client_id: client }
  expect((await post('token', { ...again, client_id: `${client}?` })).status).toBe(400)
  expect((await post('token', again)).status).toBe(200)
  expect(asked.filter((path) => path === '/client.json')).toHaveLength(1)
})

it.each<[string, object | string | number, string]>([
  ['names another URL', { client_id: 'https://localhost/other.json' }, 'client_id is not its URL'],
  ['has a secret', { client_secret: 'x' }, 'client_secret: must not be published'],
  ['asks for a secret', { token_endpoint_auth_method: 'client_secret_post' }, 'must be none'],
  [
    'has only schemes of its own',
    { redirect_uris: ['editor://callback'] },
    'has none that is https',
  ],
  ['has a name that is no plain text', { client_name: 'a\u202Eb' }, 'must be plain text'],
  ['is no JSON', '<html>', 'not a JSON object'],
  ['is too large', 'x'.repeat(20_000), 'larger than 10000 bytes'],
  ['is missing', 404, 'status 404'],
  ['leads elsewhere', 302, 'status 302'],
])('refuses a client whose document %s, and asks again later', async (name, said, reason) => {
  const path = `/${encodeURIComponent(name)}.json`
  const client = describeAt(path, typeof said === 'object' ? said : {})
  if (typeof said !== 'object') documents.set(path, said)
  const refused = await show(client)
  expect(refused.status).toBe(400)
  expect(refused.headers.get('location')).toBeNull()
  expect(await refused.text()).toContain(reason)
  describeAt(path)
  expect((await show(client)).status).toBe(200)
})

it.each([
  ORIGIN,
  `${ORIGIN}/a/../client.json`,
  `${ORIGIN}/client.json#a`,
  `https://a:b@localhost:${port}/client.json`,
  `${ORIGIN}/${'x'.repeat(500)}`,
  `https://LOCALHOST:${port}/client.json`,
  'http://localhost/client.json',
])('asks for no document at %s', async (client) => {
  const before = asked.length
  expect((await show(client)).status).toBe(400)
  expect(asked).toHaveLength(before)
})

it('sends nobody to a redirect URI that the document does not name', async () => {
  const client = describeAt('/client.json')
  const refused = await show(client, { redirect_uri: 'https://evil.example/callback' })
  expect(refused.status).toBe(400)
})

it('reaches no private address, and no document without an end', async () => {
  const guarded = await startServer()
  const client = describeAt('/private.json')
  const refused = await show(client, {}, guarded)
  expect(refused.status).toBe(400)
  const said = await refused.text()
  expect(said).toContain('it could not be read')
  for (const host of ['127.0.0.1.nip.invalid', 'no-such-host.invalid', '10.0.0.1', '[::1]']) {
    const other = await show(`https://${host}/private.json`, {}, guarded)
    // What brackets name is no document's URL at all.
    if (host.startsWith('[')) expect(other.status).toBe(400)
    else expect(await other.text()).toBe(said)
  }
  expect(asked).not.toContain('/private.json')
  documents.set('/hang.json', 'hang')
  const silent = await show(`${ORIGIN}/hang.json`)
  expect(await silent.text()).toContain('did not respond in time')
}, 20_000)

it('limits the requests of an address', async () => {
  const limited = await startServer()
  const statuses: number[] = []
  for (let time = 0; time < 61; time++) statuses.push((await show('x', {}, limited)).status)
  expect(statuses).toEqual([...Array(60).fill(400), 429])
})
