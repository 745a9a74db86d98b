import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { IngestionJob, NewChunk } from '../../../src/stores/document-store.ts'
import type { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { createPostgresData, hasPostgres, type PostgresData, SERVER_URL } from './store-data.ts'

const SHORT_LEASE = { leaseMilliseconds: 400 }
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
  const addAll = (store: PostgresStore, count: number) =>
    Promise.all(range(count).map((i) => store.add({ id: `document-${i}`, text: `Text ${i}` })))
  const chunkOf = async (store: PostgresStore): Promise<NewChunk> => {
    const key = await store.reserveChunkKeys(1)
    return { key, ordinal: 0, text: 'x', heading: '', start: 0, end: 1 }
  }
  const claimOne = async (store: PostgresStore): Promise<IngestionJob> =>
    vi.waitUntil(async () => (await store.claimJobs(1))[0], { timeout: 10_000, interval: 50 })

  it('start together on a new database, and make its schema once', async () => {
    const stores = await Promise.all(range(5).map(() => open()))
    await Promise.all(stores.map((store, i) => store.add({ id: `of-${i}`, text: 'x' })))
    expect(await stores[0]?.counts()).toMatchObject({ jobs: 5 })
    expect(await data.sql('SELECT * FROM agent_server.schema_version')).toHaveLength(1)
  })

  it('claim each job once, however many claim at the same time', async () => {
    const stores = await Promise.all(range(3).map(() => open()))
    await addAll(stores[0] as PostgresStore, 120)
    const claims = await Promise.all(
      range(60).map((i) => stores[i % 3]?.claimJobs(1 + (i % 5)) ?? []),
    )
    const rest = await stores[0]?.claimJobs(256)
    const ids = [...claims.flat(), ...(rest ?? [])].map(({ documentId }) => documentId)
    expect(ids).toHaveLength(120)
    expect(new Set(ids).size).toBe(120)
  })

  it('keep the limit of the queue together', async () => {
    const stores = await Promise.all(range(3).map(() => open({ queueLimit: 20 })))
    const adding = range(90).map((i) => stores[i % 3]?.add({ id: `d${i}`, text: 'x' }))
    const settled = await Promise.allSettled(adding)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  })

  it('add a document with one idempotency key once', async () => {
    const stores = await Promise.all([open(), open()])
    const idempotency = { key: 'key', digest: 'digest' }
    const adding = range(20).map((i) => stores[i % 2]?.add({ id: `d${i}`, text: 'x' }, idempotency))
    expect(new Set((await Promise.all(adding)).map((added) => added?.id)).size).toBe(1)
  })

  it('make one document of what is put under one new id at the same time', async () => {
    const stores = await Promise.all([open(), open()])
    const putting = range(20).map((i) => stores[i % 2]?.put({ id: 'one', text: `Text ${i}` }))
    const revisions = (await Promise.all(putting)).map((put) => put?.revision)
    expect(revisions.toSorted((a = 0, b = 0) => a - b)).toEqual(range(20).map((i) => i + 1))
    expect(await stores[0]?.counts()).toMatchObject({ documents: { pending: 1 }, jobs: 1 })
  })

  it('never use a chunk key twice', async () => {
    const stores = await Promise.all([open(), open()])
    const firsts = await Promise.all(
      range(60).map((i) => stores[i % 2]?.reserveChunkKeys(100) ?? 0),
    )
    const sorted = firsts.toSorted((a, b) => a - b)
    for (const [i, first] of sorted.entries()) {
      expect(first).toBeGreaterThanOrEqual((sorted[i - 1] ?? -99) + 100)
    }
  })

  it('hear of jobs and of documents that are done elsewhere', async () => {
    const [one, other] = await Promise.all([open(), open()])
    const heard: string[] = []
    other.subscribe({
      jobCame: () => void heard.push('job'),
      documentEnded: (id = 'any') => void heard.push(id),
    })
    const listening = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND query = 'LISTEN agent_server_ended'`
    await vi.waitFor(async () => expect(await data.sql(listening)).toHaveLength(2))
    heard.length = 0
    await one.add({ id: 'ready', text: 'x' })
    await vi.waitFor(() => expect(heard).toEqual(['job']))
    await one.completeJob(await claimOne(one), [await chunkOf(one)])
    await vi.waitFor(() => expect(heard).toContain('ready'))
    await one.add({ id: 'failed', text: 'x' })
    await one.failJob(await claimOne(one), FAILURE)
    await vi.waitFor(() => expect(heard).toContain('failed'))
  })

  it('leave a claim to whoever goes on with it', async () => {
    const [one, other] = await Promise.all([open(SHORT_LEASE), open(SHORT_LEASE)])
    await addAll(one, 1)
    const job = await claimOne(one)
    for (const _turn of range(20)) {
      expect(await other.claimJobs(1)).toEqual([])
      await new Promise((resolve) => setTimeout(resolve, SHORT_LEASE.leaseMilliseconds / 8))
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
    expect(await other.get(lost.documentId)).toMatchObject({ status: 'processing' })
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

  it('give back the claims of the dead alone when one of them starts', async () => {
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
