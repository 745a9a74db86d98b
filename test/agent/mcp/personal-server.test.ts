import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import { createCitations } from '../../../src/agent/citations/citations.ts'
import { createMcp } from '../../../src/agent/mcp/mcp.ts'
import { PersonalServer } from '../../../src/agent/mcp/personal-server.ts'
import { McpServers } from '../../../src/agent/mcp/settings.ts'
import { createToolLock } from '../../../src/agent/mcp/tool-lock.ts'
import { createArtifacts } from '../../../src/agent/tools/artifacts.ts'
import { startPersonalServer } from '../../support/personal-mcp-server.ts'

const openSqliteStore = useSqliteStores()

const { signal } = new AbortController()
const outbound = createGuardedFetch(createOutboundPolicy(['127.0.0.1']), {
  maxBytes: 1_000_000,
  idleMs: 10_000,
})
afterAll(() => outbound.close())
const OWNER = 'master'
/** Less than what a question waits for a server that it has not tried. */
const AT_ONCE_MS = 4_000

/** Two connections with accounts of the same person, of which one depends on a variable. */
async function open() {
  const [tickets, other] = [await startPersonalServer(['ada']), await startPersonalServer(['ada'])]
  const store = await openSqliteStore()
  const environment: { TENANT?: string } = { TENANT: 'one' }
  const oauth = { per: 'person' }
  const encryption = createEncryption('key', 'accounts')
  const mcp = createMcp({
    servers: McpServers.parse({
      tickets: { url: tickets.url, oauth },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is to be written
      other: { url: other.url, oauth, headers: { 'x-tenant': '${TENANT}' } },
    }),
    environment,
    fetch: outbound.fetch,
    toolLock: createToolLock(store.acceptedTools),
    log: pino({ level: 'silent' }),
    artifacts: () => createArtifacts(store.artifacts),
    accounts: { store: store.mcpAccounts, encryption, address: '/there' },
  })
  const connect = async (connection: string) => {
    const { url, sealed } = await mcp.accounts.begin(
      connection,
      OWNER,
      'http://127.0.0.1/back',
      signal,
    )
    const back = await fetch(`${url}&login=ada`, { redirect: 'manual' })
    const query = new URL(back.headers.get('location') ?? '').searchParams
    await mcp.accounts.finish(connection, query, sealed, signal)
  }
  const usable = () =>
    mcp.tools(OWNER).flatMap((tool) => (tool.unavailable?.() === undefined ? [tool.name] : []))
  return { mcp, tickets, store, encryption, environment, connect, usable }
}

it('A server whose variable is missing breaks neither a question, nor other servers, nor the list of accounts', async () => {
  const { mcp, environment, connect, usable } = await open()
  await connect('tickets')
  await connect('other')
  delete environment.TENANT
  await mcp.prepare(OWNER, signal)
  expect(usable()).toEqual(['mcp__tickets__whoami', 'mcp__tickets__notes_of_ada'])
  expect(await mcp.accounts.list(OWNER)).toEqual([
    { connection: 'tickets', connectedAt: expect.any(String) },
    { connection: 'other' },
  ])
  expect((await mcp.records())[1]).toMatchObject({
    state: 'unavailable',
    reason: 'The variable TENANT is not set',
  })
  expect(await mcp.test('other', { accept: false, arguments: {} }, signal, OWNER)).toMatchObject({
    ok: false,
    steps: [{ step: 'configuration', message: 'The variable TENANT is not set' }],
  })
  await mcp.close()
})

it('A question waits for no server that is down', async () => {
  const { mcp, tickets, connect } = await open()
  tickets.expireAfter(1)
  await connect('tickets')
  tickets.refuseWith('server_error')
  await mcp.prepare(OWNER, signal)
  tickets.hold(Promise.withResolvers().promise)
  const started = performance.now()
  await mcp.prepare(OWNER, signal)
  expect(performance.now() - started).toBeLessThan(AT_ONCE_MS)
  await mcp.close()
})

it('A session in which a call goes on outlives any number of newer ones', async () => {
  const { mcp, tickets, store, encryption, connect } = await open()
  await connect('tickets')
  await mcp.prepare(OWNER, signal)
  const [server] = mcp.servers
  const whoami = mcp.tools(OWNER).find(({ name }) => name === 'mcp__tickets__whoami')
  if (!(server instanceof PersonalServer) || !whoami) throw new Error('There is none')
  const released = Promise.withResolvers<void>()
  tickets.holdCalls(released.promise)
  const visibility = forCaller(MASTER)
  const context = {
    visibility,
    artifacts: createArtifacts(store.artifacts),
    citations: createCitations(),
    search: { visibility },
    share: undefined,
    sessionId: 'session',
    activeSkills: new Set<string>(),
  }
  const running = whoami.run({}, context, signal)
  const account = await store.mcpAccounts.find({ owner: OWNER, connection: 'tickets' })
  const content = Object(await encryption.open(account?.sealed ?? ''))
  for (const number of Array(101).keys()) {
    const owner = `user:${number}`
    await store.people.see({ id: owner, name: undefined, email: undefined, groups: [] })
    const sealed = await encryption.seal({ ...content, owner })
    await store.mcpAccounts.save({ owner, connection: 'tickets', sealed, connectedAt: number })
    await server.openFor(owner)
  }
  released.resolve()
  expect(await running).toBe('You are ada')
  await mcp.close()
})
