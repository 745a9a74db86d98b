import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { afterAll, expect, it, vi } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import { beginSignIn, finishSignIn } from '../../../src/agent/mcp/account-sign-in.ts'
import { createMcpAccounts } from '../../../src/agent/mcp/accounts.ts'
import { toSessionTarget } from '../../../src/agent/mcp/session.ts'
import { McpServers } from '../../../src/agent/mcp/settings.ts'
import { long, onlyLong, someOf } from '../../support/long.ts'
import { startPersonalServer } from '../../support/personal-mcp-server.ts'

const openSqliteStore = useSqliteStores()

const ADA = { owner: 'user:ada', connection: 'tickets' }

const { signal } = new AbortController()
const outbound = createGuardedFetch(createOutboundPolicy(['127.0.0.1']), {
  maxBytes: 1_000_000,
  idleMs: 10_000,
})
afterAll(() => outbound.close())
const SECRET = 'the-secret-of-the-operator'
const redirectUri = 'http://127.0.0.1/back'

/** Two servers on one store, and an account of Ada's whose tokens expire at once. */
async function open(more: Record<string, string> = {}) {
  const server = await startPersonalServer(['ada'])
  const { mcpAccounts: store, people } = await openSqliteStore()
  for (const id of ['user:ada', 'user:bob']) {
    await people.see({ id, name: undefined, email: undefined, groups: [] })
  }
  let oauth = { per: 'person', ...more }
  const configure = (next: Record<string, string>) => {
    oauth = { per: 'person', ...next }
  }
  const settings = (url: string) => McpServers.parse({ tickets: { url, oauth } }).tickets
  const at = (url = server.url, owner = 'user:ada') => ({
    owner,
    connection: 'tickets',
    target: () => toSessionTarget(settings(url) ?? raise(), { SECRET }, outbound.fetch),
  })
  const servers = [1, 2].map(() =>
    createMcpAccounts({
      store,
      encryption: createEncryption('key', 'accounts'),
      address: '/there',
    }),
  )
  const [one = raise(), other = raise()] = servers
  server.expireAfter(1)
  const target = at().target()
  const { url, ...begun } = await beginSignIn(
    target,
    { redirectUri, state: 's', registrations: new Map() },
    signal,
  )
  const back = await fetch(`${url}&login=ada`, { redirect: 'manual' })
  const query = new URL(back.headers.get('location') ?? '').searchParams
  const answer = { code: query.get('code') ?? '', answeredBy: query.get('iss') ?? undefined }
  const tokens = await finishSignIn(target, { ...begun, ...answer, redirectUri }, signal)
  await one.save(at(), { ...begun, tokens })
  const connectedAt = (await one.connectedAt(at())) ?? 0
  return { server, store, one, other, at, connectedAt, configure }
}

function raise(): never {
  throw new Error('There is none')
}

it('Who leaves while this server registers itself takes nobody with them', onlyLong, async () => {
  const { server, at } = await open()
  const released = Promise.withResolvers<void>()
  server.hold(released.promise)
  const registrations = new Map()
  const looks = vi.spyOn(registrations, 'get')
  const begin = (until: AbortSignal) =>
    beginSignIn(at().target(), { redirectUri, state: 's', registrations }, until)
  const leaving = new AbortController()
  const left = begin(leaving.signal)
  await expect.poll(() => registrations.size).toBe(1)
  const other = begin(signal)
  await expect.poll(() => looks.mock.calls).toHaveLength(2)
  leaving.abort(new Error('She left'))
  await expect(left).rejects.toThrow('She left')
  released.resolve()
  expect((await other).client).toMatchObject({ client_id: 'registered' })
})

it('Tokens that expire are renewed once, however many calls of two servers need them', async () => {
  const { server, one, other, at, connectedAt } = await open()
  const released = Promise.withResolvers<void>()
  server.hold(released.promise)
  server.expireAfter(3_600)
  const sources = [one, other, one, other].map((each) => each.sourceFor(at(), connectedAt))
  const waiting = sources.map((source) => source.token())
  await expect.poll(() => server.grants).toContain('refresh_token')
  released.resolve()
  const tokens = await Promise.all(waiting)
  expect(new Set(tokens).size).toBe(1)
  expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
})

it('An account without tokens that work is gone', onlyLong, async () => {
  const { server, one, at, connectedAt } = await open()
  server.revoke('ada')
  const source = one.sourceFor(at(), connectedAt)
  await expect(source.token()).rejects.toThrow('/there')
  expect(await one.connectedAt(at())).toBeUndefined()
})

it.each(
  someOf(
    [
      ['invalid_client', {}],
      ['invalid_grant', { clientId: 'agent' }],
    ],
    1,
  ),
)('An account is gone when its tokens will not work again: %s', long, async (error, oauth) => {
  const { server, one, at, connectedAt } = await open(oauth)
  server.refuseWith(error)
  await expect(one.sourceFor(at(), connectedAt).token()).rejects.toThrow('/there')
  expect(await one.connectedAt(at())).toBeUndefined()
})

it.each([
  ['invalid_request', {}],
  ['unauthorized_client', {}],
  ['something_of_its_own', {}],
  ['invalid_client', { clientId: 'agent' }],
])('An account outlives a refusal that is not about its tokens: %s', async (error, oauth) => {
  const { server, one, at, connectedAt } = await open(oauth)
  server.expireAfter(3_600)
  const source = one.sourceFor(at(), connectedAt)
  server.refuseWith(error)
  await expect(source.token()).rejects.toThrow()
  server.refuseWith(undefined)
  expect(await source.token()).toContain('canary-ada-')
})

it('An account waits until the client that got its tokens is configured again', async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is to be written
  const mine = { clientId: 'agent', clientSecret: '${SECRET}' }
  const { server, one, at, connectedAt, configure } = await open(mine)
  server.expireAfter(3_600)
  const source = one.sourceFor(at(), connectedAt)
  for (const other of [{ clientId: 'another' }, {}]) {
    configure(other)
    await expect(source.token()).rejects.toThrow('/there')
  }
  expect(server.grants).toEqual(['authorization_code'])
  configure(mine)
  expect(await source.token()).toContain('canary-ada-')
})

it('Tokens are renewed at once if a server with another clock has claimed that, in the far future', async () => {
  const { server, store, one, at, connectedAt } = await open()
  const stored = (await store.find(ADA)) ?? raise()
  const now = Date.now()
  expect(await store.claim(stored, { until: now, after: now }, now + 3_600_000)).toBe(true)
  server.expireAfter(3_600)
  await one.sourceFor(at(), connectedAt).token()
  expect(server.grants).toEqual(['authorization_code', 'refresh_token'])
})

it('An account is kept for nobody who is gone', async () => {
  const { store } = await open()
  const stored = (await store.find(ADA)) ?? raise()
  expect(await store.save({ ...stored, owner: 'user:gone' })).toBe(false)
  expect(await store.find({ ...ADA, owner: 'user:gone' })).toBeUndefined()
})

it('Tokens that cannot be renewed count until they expire', async () => {
  const { server, store, one, at } = await open()
  const encryption = createEncryption('key', 'accounts')
  const stored = (await store.find(ADA)) ?? raise()
  const { refreshToken, ...content } = Object(await encryption.open(stored.sealed))
  expect(refreshToken).toBeTypeOf('string')
  const sealed = await encryption.seal({ ...content, expiresAt: Date.now() + 30_000 })
  await store.save({ ...stored, sealed })
  const source = one.sourceFor(at(), stored.connectedAt)
  expect(await source.token()).toBe(content.accessToken)
  expect(server.grants).toEqual(['authorization_code'])
})

it('Tokens count for the server and the person that they were given for alone, and are stored encrypted', async () => {
  const { store, one, at } = await open()
  const stored = (await store.find(ADA)) ?? raise()
  expect(JSON.stringify(stored)).not.toMatch(/canary|refresh-|registered/)
  expect(await one.connectedAt(at('http://127.0.0.1:9/other'))).toBeUndefined()
  await store.save({ ...stored, owner: 'user:bob' })
  expect(await one.connectedAt(at(undefined, 'user:bob'))).toBeUndefined()
})

it('A session of an account goes on with no account that is connected later', async () => {
  const { store, one, at, connectedAt } = await open()
  const source = one.sourceFor(at(), connectedAt)
  await source.token()
  const stored = (await store.find(ADA)) ?? raise()
  await store.save({ ...stored, connectedAt: connectedAt + 1 })
  await expect(source.token()).rejects.toThrow('/there')
})
