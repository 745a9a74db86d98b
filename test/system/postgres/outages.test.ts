import { inspect } from 'node:util'
import { everything } from '@agent-server/lib/visibility.ts'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SharedStore } from '../../../packages/stores/src/opened-store.ts'
import { createPostgresStore } from '../../../packages/stores/src/postgres/postgres-store.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import {
  createPostgresData,
  hasPostgres,
  type PostgresData,
  runSql,
  SERVER_URL,
} from './store-data.ts'

const UNAVAILABLE = { code: 'store_unavailable', status: 503, retryAfter: expect.any(Number) }
const PASSWORD = 'a-password-that-nobody-may-see'
const range = (length: number) => Array.from({ length }, (_, position) => position)

describe.skipIf(!hasPostgres)('While PostgreSQL is away, the store (needs PostgreSQL)', () => {
  let data: PostgresData
  let proxy: TcpProxy
  let store: SharedStore
  beforeEach(async () => {
    data = await createPostgresData()
    const { hostname: host, port } = new URL(SERVER_URL)
    proxy = await startTcpProxy({ host, port: Number(port) })
    const url = new URL(data.url)
    Object.assign(url, { port: String(proxy.port), password: PASSWORD })
    store = await data.open({ url: url.href })
    await store.add({ id: 'before', text: 'x' })
    return async () => {
      await store.close()
      await data.remove()
    }
  })

  const works = async () => {
    await vi.waitFor(() => store.check(AbortSignal.timeout(2_000)), { timeout: 20_000 })
    expect(await store.get(everything(), 'before')).toMatchObject({ id: 'before' })
  }
  const refuses = async (call: () => Promise<unknown>) => {
    const error: unknown = await call().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(UNAVAILABLE)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASSWORD)
  }

  it('reports a refused connection at once, and works again without a restart', async () => {
    proxy.set('cut')
    await refuses(() => store.get(everything(), 'before'))
    await refuses(() => store.add({ id: 'x', text: 'x' }))
    await refuses(() => store.claimJobs(1))
    await refuses(() => store.check(AbortSignal.timeout(2_000)))
    proxy.set('pass')
    await works()
    expect(await store.get(everything(), 'x')).toBeUndefined()
  })

  it('gives up in bounded time on one that does not answer', async () => {
    await store.get(everything(), 'before')
    proxy.set('stall')
    await refuses(() => store.check(AbortSignal.timeout(300)))
    await Promise.all(
      range(12).map((i) =>
        refuses(() => (i % 2 ? store.get(everything(), 'a') : store.claimJobs(1))),
      ),
    )
    proxy.set('pass')
    await works()
  }, 60_000)

  it('has a document whole or not at all when the connection breaks in the middle of adding it', async () => {
    const text = 'x'.repeat(20_000)
    const acknowledged: string[] = []
    for (const turn of range(12)) {
      await works()
      proxy.cutAfter(turn * 3_000)
      const ids = range(4).map((i) => `${turn}-${i}`)
      const settled = await Promise.allSettled(ids.map((id) => store.add({ id, text })))
      acknowledged.push(...ids.filter((_, i) => settled[i]?.status === 'fulfilled'))
      proxy.set('pass')
    }
    await works()
    // What had arrived whole before its connection broke may still be committed.
    await expect
      .poll(() =>
        data.sql(`SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`),
      )
      .toEqual([])
    const { documents } = await store.list(everything(), { limit: 999 })
    expect(documents.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
    expect(await store.counts()).toMatchObject({ jobs: documents.length })
    const jobs = await store.claimJobs(999)
    expect(new Set(jobs.map(({ documentId }) => documentId)).size).toBe(documents.length)
    for (const job of jobs) expect(job.text).toHaveLength(job.documentId === 'before' ? 1 : 20_000)
  })

  it('goes on when every connection is ended, as by a restart', async () => {
    await Promise.all(range(9).map(() => store.get(everything(), 'before')))
    await data.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`)
    await works()
  })

  it('receives the events of others again', async () => {
    const heard = vi.fn()
    store.subscribe({ notifyJob: heard, notifyDocument: () => undefined })
    proxy.set('cut')
    proxy.set('pass')
    const other = await data.open()
    onTestFinished(() => other.close())
    await vi.waitFor(
      async () => {
        heard.mockClear()
        await other.add({ id: `${Math.random()}`, text: 'x' })
        await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 500 })
      },
      { timeout: 20_000 },
    )
  })

  it('writes nothing where it is read-only, as a standby is', async () => {
    const url = new URL(data.url)
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const standby = createPostgresStore({
      url: url.href,
      poolSize: 2,
      queueLimit: 9,
      log: { info: () => undefined, warn: () => undefined },
    })
    await expect(standby).rejects.toMatchObject({ message: expect.stringContaining('read-only') })
  })
})

describe.skipIf(!hasPostgres)('A start on PostgreSQL (needs PostgreSQL)', () => {
  const log = { info: () => undefined, warn: () => undefined }
  const start = (url: string) => createPostgresStore({ url, poolSize: 2, queueLimit: 9, log })
  let data: PostgresData
  beforeEach(async () => {
    data = await createPostgresData()
    return () => data.remove()
  })

  it.each([
    ['a host that refuses', { port: '1' }],
    ['a database that is not there', { pathname: '/no_such_database' }],
  ])('is refused by %s, without a word of the password', async (_what, other) => {
    const url = Object.assign(new URL(data.url), { password: PASSWORD, ...other })
    const error: unknown = await start(url.href).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(UNAVAILABLE)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PASSWORD)
  })

  it('needs a user who may make our schema, or has it', async () => {
    const name = new URL(data.url).pathname.slice(1)
    const user = `${name}_user`
    await data.sql(`CREATE USER ${user}`)
    onTestFinished(async () => void (await runSql(SERVER_URL, `DROP USER ${user}`)))
    const url = Object.assign(new URL(data.url), { username: user }).href
    await expect(start(url)).rejects.toThrow(/the user lacks a privilege: let it CREATE/)

    await data.sql(`CREATE SCHEMA agent_server AUTHORIZATION ${user}`)
    await (await start(url)).close()
    await (await start(url)).close()
    await data.sql(`DROP SCHEMA agent_server CASCADE`)

    await data.sql(`GRANT CREATE ON DATABASE ${name} TO ${user}`)
    const store = await start(url)
    await store.add({ id: 'a', text: 'x' })
    await store.close()
    await data.sql(`DROP OWNED BY ${user}`)
  })

  it('refuses a database that cannot hold every character, and makes nothing in it', async () => {
    const name = new URL(data.url).pathname.slice(1)
    const latin = `${name}_latin`
    await runSql(SERVER_URL, `CREATE DATABASE ${latin} ENCODING 'LATIN1' TEMPLATE template0`)
    onTestFinished(async () => void (await runSql(SERVER_URL, `DROP DATABASE ${latin} (FORCE)`)))
    const url = data.url.replace(name, latin)
    await expect(start(url)).rejects.toThrow(/its encoding is LATIN1.+ENCODING 'UTF8'/)
    const schemas = `SELECT nspname FROM pg_namespace WHERE nspname = 'agent_server'`
    expect(await runSql(url, schemas)).toEqual([])
  })

  it('refuses a database of a newer server, and one whose schema is another program’s', async () => {
    await (await data.open()).close()
    await data.sql('UPDATE agent_server.schema_version SET version = version + 1')
    await expect(data.open()).rejects.toThrow(/newer server/)
    await data.sql('DROP SCHEMA agent_server CASCADE')
    await data.sql('CREATE SCHEMA agent_server CREATE TABLE theirs (a integer)')
    await expect(data.open()).rejects.toThrow(/another program/)
  })
})
