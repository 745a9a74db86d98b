import type { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { IngestionJob } from '@agent-server/stores'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { NewChunk } from '../../../packages/stores/src/document-store.ts'
import type { SharedStore } from '../../../packages/stores/src/opened-store.ts'
import { openSession } from '../../../packages/stores/src/postgres/connection.ts'
import { POSTGRES } from '../../../packages/stores/src/postgres/dialect.ts'
import type { Tx } from '../../../packages/stores/src/sql/query.ts'
import { createWrites, type Writes } from '../../../packages/stores/src/sql/writes.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { usageOf } from '../../support/usage.ts'
import { createPostgresData, hasPostgres, type PostgresData, SERVER_URL } from './store-data.ts'

const SHORT_LEASE = { leaseMs: 400 }
const KEY = { id: 'a', name: 'A', scopes: ['query' as const], createdAt: 1, digest: 'd' }
const FAILURE = { code: 'internal', message: 'It failed' }
const range = (length: number) => Array.from({ length }, (_, position) => position)

describe.skipIf(!hasPostgres)('Servers that share a database (needs PostgreSQL)', () => {
  let data: PostgresData
  beforeEach(async () => {
    data = await createPostgresData()
    return () => data.remove()
  })

  const open = async (options: Parameters<PostgresData['open']>[0] = {}) => {
    const store = await data.open(options)
    onTestFinished(() => store.close())
    return store
  }
  const addAll = (store: SharedStore, count: number) =>
    Promise.all(range(count).map((i) => store.add({ id: `document-${i}`, text: `Text ${i}` })))
  const chunkOf = async (store: SharedStore): Promise<NewChunk> => {
    const key = await store.reserveChunkKeys(1)
    return { key, ordinal: 0, text: 'x', heading: '', start: 0, end: 1 }
  }
  const openAll = (count: number, options: Parameters<typeof open>[0] = {}) =>
    Promise.all(range(count).map(() => open(options)))
  /** As many calls at the same time, each on the next store. */
  const inTurn = <Result>(
    stores: readonly SharedStore[],
    calls: number,
    call: (store: SharedStore, turn: number) => Promise<Result>,
  ): Promise<Result>[] => {
    const rounds = range(Math.ceil(calls / stores.length)).flatMap(() => stores)
    return rounds.slice(0, calls).map(call)
  }
  const claimOne = async (store: SharedStore): Promise<IngestionJob> =>
    vi.waitUntil(async () => (await store.claimJobs(1))[0], { timeout: 10_000, interval: 50 })

  it('answer as before once a newer one has added a column to each table', async () => {
    const store = await open()
    await addAll(store, 3)
    const ask = async () => [
      await Promise.all(range(12).map((n) => store.get(everything(), `document-${n % 3}`))),
      await store.keys.list(),
      await store.people.find('nobody'),
      await store.conversations.list('somebody', { limit: 5 }),
      (await store.put(everything(), { id: 'document-0', text: 'Another text' }))?.id,
    ]
    await ask()
    const before = await ask()
    const tables = await data.sql(
      `SELECT relname FROM pg_class WHERE relnamespace = 'agent_server'::regnamespace AND relkind = 'r'`,
    )
    for (const { relname } of tables) {
      await data.sql(`ALTER TABLE agent_server.${relname} ADD COLUMN later integer`)
    }
    expect(JSON.stringify(await ask()).length).toBe(JSON.stringify(before).length)
  })

  it('start together on a new database, and make its schema once', async () => {
    const stores = await openAll(5)
    await Promise.all(inTurn(stores, 5, (store, i) => store.add({ id: `of-${i}`, text: 'x' })))
    expect(await stores[0]?.counts()).toMatchObject({ jobs: 5 })
    expect(await data.sql('SELECT * FROM agent_server.schema_version')).toHaveLength(1)
  })

  it('follow a folder on one of them at a time, and each folder by itself', async () => {
    const [one, other] = await Promise.all([open(), open()])
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const { signal } = new AbortController()
    const nothing = async () => undefined
    const work = async () => {
      begun.resolve()
      await ended.promise
    }
    const holding = one.withExclusiveLock('folder:inbox', work, signal)
    await begun.promise
    expect(await other.withExclusiveLock('folder:inbox', nothing, signal)).toBe(false)
    expect(await other.withExclusiveLock('folder:handbook', nothing, signal)).toBe(true)
    ended.resolve()
    expect(await holding).toBe(true)
    expect(await other.withExclusiveLock('folder:inbox', nothing, signal)).toBe(true)
  })

  it('claim each job once, however many claim at the same time', async () => {
    const stores = await openAll(3)
    const adding = inTurn(stores, 120, (store, i) => store.add({ id: `d${i}`, text: 'x' }))
    await Promise.all(adding)
    const claims = await Promise.all(inTurn(stores, 60, (store, i) => store.claimJobs(1 + (i % 5))))
    // What one has locked, another passes over.
    const rest = await Promise.all(inTurn(stores, 3, (store) => store.claimJobs(99)))
    const ids = [...claims, ...rest].flat().map(({ documentId }) => documentId)
    expect(ids).toHaveLength(120)
    expect(new Set(ids).size).toBe(120)
  })

  it('keep the limit of the queue together', async () => {
    const stores = await openAll(3, { queueLimit: 20 })
    const settled = await Promise.allSettled(
      inTurn(stores, 90, (store, i) => store.add({ id: `d${i}`, text: 'x' })),
    )
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  })

  it('add a document with one idempotency key once', async () => {
    const idempotency = { key: 'key', digest: 'digest' }
    const added = await Promise.all(
      inTurn(await openAll(2), 20, (store, i) =>
        store.add({ id: `d${i}`, text: 'x' }, idempotency),
      ),
    )
    expect(new Set(added.map(({ id }) => id)).size).toBe(1)
  })

  it('make one document of what is put under one new id at the same time', async () => {
    const stores = await openAll(2)
    const put = await Promise.all(
      inTurn(stores, 20, (store, i) => store.put(everything(), { id: 'one', text: `Text ${i}` })),
    )
    const revisions = put.map(({ revision }) => revision)
    expect(revisions.toSorted((a, b) => a - b)).toEqual(range(20).map((i) => i + 1))
    expect(await stores[0]?.counts()).toMatchObject({ documents: { pending: 1 }, jobs: 1 })
  })

  it('never use a chunk key twice', async () => {
    const firsts = await Promise.all(
      inTurn(await openAll(2), 60, (store) => store.reserveChunkKeys(100)),
    )
    const sorted = firsts.toSorted((a, b) => a - b)
    for (const [i, first] of sorted.entries()) {
      expect(first).toBeGreaterThanOrEqual((sorted[i - 1] ?? -99) + 100)
    }
  })

  it('see the keys of one another at once, and hold no more for calls than a key may use', async () => {
    const stores = await openAll(3)
    const [one, other] = stores
    await one?.keys.add(KEY, 9)
    expect(await other?.keys.find('a')).toMatchObject(KEY)
    await Promise.all(
      inTurn(stores, 30, ({ keys }, i) => keys.addUse([{ id: 'a', lastUsedAt: i }])),
    )
    expect((await one?.keys.find('a'))?.lastUsedAt).toBe(29)
    const used = usageOf({ key: 'a', inputTokens: 1 })
    await Promise.all(inTurn(stores, 30, ({ usage }) => usage.add([used])))
    expect(await other?.usage.tokensOfKeys(used.day)).toEqual(new Map([['a', 30]]))
    const wanted = usageOf({ key: 'a', inputTokens: 20 })
    const limits = [{ kind: 'key' as const, id: 'a', tokensPerDay: 100 }]
    const refused = await Promise.all(
      inTurn(stores, 9, ({ usage }, i) =>
        usage.hold(wanted, { id: `hold-${i}`, expiresAt: 2 }, limits, 1),
      ),
    )
    expect(refused.filter((refusal) => refusal === undefined)).toHaveLength(3)
    await other?.keys.remove('a')
    expect(await one?.keys.find('a')).toBeUndefined()
  })

  it.each<[string, (writes: Writes, tx: Tx) => Promise<unknown>]>([
    ['a document', (writes, tx) => writes.add(tx, { id: 'a', text: 'x', collection: 'desk' })],
    ['a key', (writes, tx) => writes.addKey(tx, { ...KEY, collections: ['desk'] }, 9)],
  ])(
    'keep the name of a collection that %s of one takes while a person wants it of another',
    async (_case, take) => {
      const store = await open()
      const session = await openSession(data.url)
      onTestFinished(session.close)
      await session.run('BEGIN')
      await take(createWrites(POSTGRES, 9), session)
      const lists = { reader: [], contributor: [], owner: ['user:eve'] }
      const adding = store.collections.add({ name: 'desk', creator: 'user:eve', lists }, false)
      const end = adding.then(
        () => 'added',
        ({ code }: AppError) => code,
      )
      const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await expect.poll(() => data.sql(waiting)).toHaveLength(1)
      await session.run('COMMIT')
      expect(await end).toBe('collection_exists')
    },
  )

  it('accept what one of them sees first, of tools and of skills', async () => {
    const stores = await openAll(3)
    const seen = await Promise.all(
      inTurn(stores, 3, ({ acceptedTools }, i) =>
        acceptedTools.see('one', 'https://example.org/mcp', new Map([['a', `${i}`]])),
      ),
    )
    expect(new Set(seen.map((tools) => tools.get('a'))).size).toBe(1)
    const source = 'https://example.org/a.zip'
    const kept = await Promise.all(
      inTurn(stores, 3, ({ skillCopies }, i) =>
        skillCopies.keep(source, { digest: `${i}`, bytes: Uint8Array.of(i) }, undefined),
      ),
    )
    expect(kept.filter(Boolean)).toHaveLength(1)
    const digest = `${kept.indexOf(true)}`
    for (const { skillCopies } of stores) {
      expect(await skillCopies.read(source)).toMatchObject({ digest })
    }
  })

  it('receive events of jobs and documents completed elsewhere', async () => {
    const [one, other] = await Promise.all([open(), open()])
    const heard: string[] = []
    other.subscribe({
      notifyJob: () => void heard.push('job'),
      notifyDocument: (id = 'any') => void heard.push(id),
    })
    const listening = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND query = 'LISTEN agent_server'`
    await expect.poll(() => data.sql(listening)).toHaveLength(2)
    heard.length = 0
    await one.add({ id: 'ready', text: 'x' })
    await expect.poll(() => heard).toEqual(['job'])
    await one.completeJob(await claimOne(one), [await chunkOf(one)])
    await expect.poll(() => heard).toContain('ready')
    await one.add({ id: 'failed', text: 'x' })
    await one.failJob(await claimOne(one), FAILURE)
    await expect.poll(() => heard).toContain('failed')
  })

  it('leave a claim to whoever goes on with it', async () => {
    // It is renewed in time, also where both wait for a processor meanwhile.
    const lease = { leaseMs: 2_000 }
    const [one, other] = await Promise.all([open(lease), open(lease)])
    await addAll(one, 1)
    const job = await claimOne(one)
    for (const _turn of range(16)) {
      expect(await other.claimJobs(1)).toEqual([])
      await new Promise((resolve) => setTimeout(resolve, lease.leaseMs / 8))
    }
    expect(await one.completeJob(job, [await chunkOf(one)])).toEqual([])
  })

  it('take a claim over when the lease of one that has gone ends, and refuse what it does later', async () => {
    const { hostname: host, port } = new URL(SERVER_URL)
    const proxy = await startTcpProxy({ host, port: Number(port) })
    const url = Object.assign(new URL(data.url), { port: String(proxy.port) }).href
    const [gone, other] = await Promise.all([open({ ...SHORT_LEASE, url }), open(SHORT_LEASE)])
    await addAll(other, 1)
    const lost = await claimOne(gone)
    expect(await other.nextJobAt()).toBeGreaterThan(Date.now() - 1_000)
    proxy.set('cut')
    const taken = await claimOne(other)
    expect(taken).toMatchObject({ documentId: lost.documentId, attempt: 2 })

    proxy.set('pass')
    const late = await chunkOf(other)
    expect(await gone.completeJob(lost, [late])).toBeUndefined()
    expect(await gone.failJob(lost, FAILURE)).toBe(false)
    expect(await other.get(everything(), lost.documentId)).toMatchObject({ status: 'processing' })
    const chunk = await chunkOf(other)
    expect(await other.completeJob(taken, [chunk])).toEqual([])
    expect([...(await gone.chunkKeys())]).toEqual([chunk.key])
  })

  it('take over at once from one that stops in order', async () => {
    const [one, other] = await Promise.all([open(), open()])
    await addAll(one, 3)
    await one.claimJobs(3)
    await one.close()
    expect(await other.claimJobs(3)).toMatchObject(range(3).map(() => ({ attempt: 2 })))
  })

  it('release only the claims of dead servers at a start', async () => {
    const [living, dead] = await Promise.all([open(), open()])
    await addAll(living, 2)
    await living.claimJobs(1)
    await dead.claimJobs(1)
    await dead.close()
    const starting = await open()
    expect(await starting.recoverJobs()).toBe(1)
    expect(await starting.claimJobs(9)).toHaveLength(1)
  })

  it('refuse chunks whose keys are so old that they may have left the index', async () => {
    const store = await open()
    await addAll(store, 1)
    const job = await claimOne(store)
    const old = await chunkOf(store)
    await data.sql('UPDATE agent_server.key_marks SET minute = minute - 60')
    await expect(store.completeJob(job, [old])).rejects.toMatchObject({ code: 'store_unavailable' })
    const fresh = { ...old, key: await store.reserveChunkKeys(2_000) }
    expect(await store.completeJob(job, [fresh])).toEqual([])
  })
})
