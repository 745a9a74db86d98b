import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { reEmbedAll } from '../../../src/compose/rebuild.ts'
import { loadConfig } from '../../../src/config.ts'
import { verifies } from '../../requirements.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { startScriptedEmbedder } from '../../support/scripted-embedder.ts'
import { startServer, TEST_KEY } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const log = pino({ level: 'silent' })

/** A database and an index with two documents that were embedded with `model-a`. */
async function prepare() {
  const data = await createPostgresData()
  onTestFinished(data.remove)
  const embedder = await startScriptedEmbedder()
  const qdrant = await startFakeQdrant()
  const environment = {
    DATABASE_URL: data.url,
    QDRANT_URL: qdrant.url,
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'any',
  }
  const server = await startServer({ ...environment, EMBEDDING_MODEL: 'model-a' })
  await server.ingest({ title: 'Vehicles', text: 'A car needs fuel and four wheels.' })
  await server.ingest({ title: 'Medicine', text: 'The doctor sees patients.' })
  await server.close()
  const embedded = (model: string) =>
    embedder.requests.filter((request) => request.model === model && request.input.length > 1)
  return { data, environment, embedded }
}

function run(environment: Record<string, string>, model: string): Promise<void> {
  const server = { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive' }
  const config = loadConfig({ ...server, ...environment, EMBEDDING_MODEL: model })
  return reEmbedAll(config, log, () => undefined, new AbortController().signal)
}

describe.skipIf(!hasPostgres)('Vectors made anew on one database (needs PostgreSQL)', () => {
  it(
    'are made by one re-embedding at a time: a second one ends and says why',
    verifies('shared.reindex'),
    async () => {
      const { data, environment } = await prepare()
      const store = await data.open()
      onTestFinished(store.close)
      // Another process is in the middle of it.
      const work = Promise.withResolvers<void>()
      const others = store.replacement.exclusively(() => work.promise, new AbortController().signal)
      await expect
        .poll(() => run(environment, 'model-b').catch(String))
        .toMatch(/Another process is already re-embedding this database/)
      work.resolve()
      await others
      await run(environment, 'model-b')
      expect(await store.embedding()).toMatchObject({ model: 'model-b' })
    },
  )

  it('are swapped once by servers that start together with the next model', async () => {
    const { data, environment, embedded } = await prepare()
    const reEmbedding = await startServer({
      ...environment,
      EMBEDDING_MODEL: 'model-a',
      EMBEDDING_MODEL_NEXT: 'model-b',
    })
    const state = async () => {
      const readiness = await fetch(`${reEmbedding.url}/readiness`)
      return Readiness.parse(await readiness.json()).reEmbedding?.state
    }
    await expect.poll(state, { timeout: 20_000 }).toBe('ready')
    await reEmbedding.close()
    const before = embedded('model-b').length
    // The index is left alone: it holds vectors of the old model, and is to be made anew.
    const start = () =>
      startServer({ ...environment, EMBEDDING_MODEL: 'model-b' }, { begin: false })
    await Promise.all([start(), start(), start()])
    const rows = await data.sql(`SELECT vectors, model FROM agent_server.embeddings`)
    expect(rows).toEqual([{ vectors: 'current', model: 'model-b' }])
    expect(embedded('model-b')).toHaveLength(before)
  })
})
