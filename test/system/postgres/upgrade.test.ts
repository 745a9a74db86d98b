import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate, STEPS } from '../../../src/stores/postgres/migrate.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** The first schema that announced what became of documents. */
const EARLIER = 4

async function createEarlier() {
  const data = await createPostgresData()
  onTestFinished(data.remove)
  expect(await migrate(data.url, STEPS.slice(0, EARLIER))).toEqual({ from: 0, to: EARLIER })
  await data.sql(
    `SELECT agent_server.add_document('a', 'Text', 4, 'Title', NULL, '{"year":2026}', NULL, NULL, 'key', 'digest', 100)`,
  )
  return data
}

describe.skipIf(!hasPostgres)('A database of an earlier schema (needs PostgreSQL)', () => {
  it('keeps its documents and jobs, and what is to be told, when this server opens it', async () => {
    const data = await createEarlier()
    await data.sql(`UPDATE agent_server.meta SET value = 1 WHERE name = 'announcing'`)
    const store = await data.open()
    onTestFinished(store.close)
    expect(await store.get('a')).toMatchObject({ title: 'Title', metadata: { year: 2026 } })
    expect(await store.counts()).toMatchObject({ jobs: 1 })
    for (const job of await store.claimJobs(1)) await store.completeJob(job, [])
    expect(await store.get('a')).toMatchObject({ status: 'ready' })
    const announced = await store.outbox.takeEvents(9, 0)
    expect(announced).toMatchObject([{ documentId: 'a', status: 'ready' }])
    expect(await store.identity()).toMatch(/^\d+$/)
  })

  it('tells nobody of documents where nobody wanted it', async () => {
    const data = await createEarlier()
    const store = await data.open()
    onTestFinished(store.close)
    for (const job of await store.claimJobs(1)) await store.completeJob(job, [])
    expect(await store.outbox.takeEvents(9, 0)).toEqual([])
  })

  it('is brought to the newest one once, however many servers start on it', async () => {
    const data = await createEarlier()
    const stores = await Promise.all([data.open(), data.open(), data.open()])
    onTestFinished(async () => {
      for (const store of stores) await store.close()
    })
    const versions = await data.sql('SELECT version FROM agent_server.schema_version')
    expect(versions).toEqual([{ version: STEPS.length }])
    const identities = await Promise.all(stores.map((store) => store.identity()))
    expect(new Set(identities).size).toBe(1)
  })
})
