import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { type FakeQdrant, startFakeQdrant } from '../support/qdrant/fake-qdrant.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startServer, type TestServer } from '../support/server.ts'

const OTTERS = { title: 'Otters', text: 'Otters hold hands while they sleep.' }

async function readiness({ request }: TestServer) {
  const response = await request('/readiness')
  return { status: response.status, body: await response.json() }
}

describe('A server whose collections are lost', () => {
  const EMBEDDING = { EMBEDDING_MODEL: 'hashed-words', EMBEDDING_API_KEY: 'embedding-key-5521' }
  const VEHICLES = { title: 'Vehicles', text: 'A car needs fuel.' }

  /** Takes away the collections whose names contain this, as an operator, or a disk, may. */
  const lose = async (qdrant: FakeQdrant, part: string) => {
    for (const name of [...qdrant.store.collections.keys()]) {
      if (name.includes(part))
        await fetch(`${qdrant.url}/collections/${name}`, { method: 'DELETE' })
    }
  }
  const found = async ({ request }: TestServer) => {
    const response = await request('/query', { body: { query: 'automobile', topK: 1 } })
    const { data } = QueryResponse.safeParse(await response.json())
    return { status: response.status, degraded: data?.degraded, title: data?.hits[0]?.title }
  }

  it('says so, serves what it can meanwhile, and makes them anew from the document store by itself', {
    ...verifies('qdrant.heals'),
    ...onlyLong,
  }, async () => {
    const embedder = await startScriptedEmbedder()
    const qdrant = await startFakeQdrant()
    const addresses = { QDRANT_URL: qdrant.url, EMBEDDING_BASE_URL: embedder.url }
    const server = await startServer({ ...EMBEDDING, ...addresses })
    await server.ingest(VEHICLES)
    await server.ingest(OTTERS)
    const whole = { status: 200, degraded: undefined, title: VEHICLES.title }
    expect(await found(server)).toEqual(whole)

    await lose(qdrant, 'vectors')
    expect(await found(server)).toMatchObject({ status: 200, degraded: true })
    expect((await readiness(server)).status).toBe(503)
    await expect.poll(() => found(server)).toEqual(whole)
    expect((await readiness(server)).status).toBe(200)

    await lose(qdrant, '')
    const refused = await server.request('/query', { body: { query: 'otters' } })
    expect(await failureOf(refused)).toMatchObject({ status: 503 })
    expect(JSON.stringify((await readiness(server)).body)).toMatch(/lost its words|rebuilt/)
    await expect.poll(() => found(server)).toEqual(whole)
    expect((await readiness(server)).status).toBe(200)
    await server.ingest({ text: 'Beavers build dams.' })
    expect(await search(server, 'beavers')).not.toHaveLength(0)
    expect(qdrant.mistakes).toEqual([])
  })
})
