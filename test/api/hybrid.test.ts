import { rm } from 'node:fs/promises'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { deleteDocuments } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { settledDocument, startServer, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const Readiness = z.looseObject({ status: z.string(), checks: z.record(z.string(), z.unknown()) })

async function startHybrid(more: Record<string, string> = {}) {
  const embedder = await startScriptedEmbedder()
  const environment = {
    EMBEDDING_MODEL: 'hashed-words',
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'embedding-key-5521',
    ...more,
  }
  const server = await startServer(environment)
  return { embedder, server, environment }
}

async function query({ request }: TestServer, body: object) {
  return QueryResponse.parse(await (await request('/query', { body })).json())
}

const readJson = async ({ request }: TestServer, path: string) => (await request(path)).json()

const DOWN = { status: 500, body: { error: { message: 'out of order' } } } as const
const CAR = { title: 'Vehicles', text: 'A car needs fuel and four wheels.' }
const DOCTOR = { title: 'Medicine', text: 'The doctor sees patients in the morning.' }

/** Of all tests that only ask; it holds both documents. */
const shared = await startHybrid()
await shared.server.ingest(CAR)
await shared.server.ingest(DOCTOR)

describe('search by words and by meaning', () => {
  it(
    'finds a passage that shares no word with the question',
    verifies('hybrid.query'),
    async () => {
      const { hits, degraded } = await query(shared.server, { query: 'automobile', topK: 1 })
      expect(hits.map(({ title }) => title)).toEqual(['Vehicles'])
      expect(degraded).toBeUndefined()
    },
  )

  it('tells the score of each stage when it is asked', verifies('hybrid.explain'), async () => {
    const { server } = shared
    const explained = await query(server, { query: 'car wheels', explain: true })
    expect(explained.hits[0]?.stages).toEqual({
      lexical: expect.any(Number),
      dense: expect.any(Number),
    })
    expect(explained.hits[1]?.stages).toEqual({ dense: expect.any(Number) })
    const plain = await query(server, { query: 'car wheels' })
    for (const hit of plain.hits) expect(hit).not.toHaveProperty('stages')
  })

  it('is what the agent and readiness say', verifies('hybrid.told'), async () => {
    const { server } = shared
    const read = async (path: string) => (await server.request(path)).json()
    expect(await read('/agent')).toMatchObject({ profile: { retrieval: 'hybrid' } })
    expect(await read('/agent/capabilities')).toMatchObject({
      retrieval: 'hybrid',
      embedder: { state: 'on', kind: 'remote', missing: 0 },
    })
    const readiness = Readiness.parse(await read('/readiness'))
    expect(readiness).toMatchObject({ status: 'ready', retrieval: 'hybrid' })
    expect(readiness.checks.embedder).toMatchObject({ state: 'ok' })
    expect(readiness).not.toHaveProperty('degraded')
  })

  it('goes by words or by meaning alone when it is asked', verifies('hybrid.mode'), async () => {
    const { server, embedder } = shared
    const before = embedder.requests.length
    const lexical = await query(server, { query: 'automobile', mode: 'lexical', explain: true })
    expect(lexical.hits).toEqual([])
    const words = await query(server, { query: 'car', mode: 'lexical', explain: true })
    expect(words.hits.map(({ stages }) => stages)).toEqual([{ lexical: expect.any(Number) }])
    expect(embedder.requests).toHaveLength(before)

    const dense = await query(server, { query: 'automobile', mode: 'dense', explain: true })
    expect(dense.hits.map(({ title }) => title)).toEqual(['Vehicles', 'Medicine'])
    for (const { stages } of dense.hits) expect(stages).toEqual({ dense: expect.any(Number) })
    expect(dense.hits[0]?.score).toBe(dense.hits[0]?.stages?.dense)

    const body = { messages: [{ role: 'user', content: 'automobile' }] }
    const hitsOf = async (mode: string) =>
      (await readChat(await server.request('/chat', { body: { ...body, mode } }))).done?.hits.length
    expect([await hitsOf('lexical'), await hitsOf('dense')]).toEqual([0, 2])

    embedder.reply = () => DOWN
    const down = await query(server, { query: 'car', mode: 'dense' })
    expect(down).toMatchObject({ degraded: true, hits: [{ title: 'Vehicles' }] })
    expect(await query(server, { query: 'car', mode: 'lexical' })).not.toHaveProperty('degraded')
    embedder.reply = () => undefined
  })

  it(
    'can go by words only where there is no embedding model',
    verifies('hybrid.mode'),
    async () => {
      const server = await startServer()
      await server.ingest(CAR)
      const messages = [{ role: 'user', content: 'a car' }]
      for (const mode of ['dense', 'hybrid']) {
        for (const [path, body] of [
          ['/query', { query: 'a car', mode }],
          ['/chat', { messages, mode }],
          ['/v1/chat/completions', { model: 'agent', messages, mode }],
        ] as const) {
          const failure = await failureOf(await server.request(path, { body }))
          expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param: 'mode' })
          expect(failure.message).toContain('EMBEDDING_MODEL')
        }
      }
      const { hits } = await query(server, { query: 'a car', mode: 'lexical' })
      expect(hits.map(({ title }) => title)).toEqual(['Vehicles'])
      const wrong = await server.request('/query', { body: { query: 'a car', mode: 'words' } })
      expect(await failureOf(wrong)).toMatchObject({ status: 400, param: 'mode' })
    },
  )

  it('goes on after a restart, also where the index was lost', async () => {
    const DATA_DIR = await temporaryDirectory()
    const { server, environment } = await startHybrid({ DATA_DIR })
    await server.ingest(CAR)
    await server.close()
    await rm(`${DATA_DIR}/index`, { recursive: true })
    const again = await startServer(environment)
    expect((await query(again, { query: 'automobile' })).hits).toHaveLength(1)
  })
})

/** Empty at the beginning of each test. */
const { server } = await startHybrid()

describe('a change of what is found by meaning', () => {
  afterEach(() => deleteDocuments(server))

  it('looks among those documents only that a filter takes', async () => {
    const documents = [
      { ...CAR, metadata: { year: 1990 } },
      { title: 'Old vehicles', text: 'The automobile of old.', metadata: { year: 1900 } },
    ]
    for (const body of documents) {
      const { id } = DocumentCreated.parse(
        await (await server.request('/documents', { body })).json(),
      )
      await settledDocument(server.request, id)
    }
    const filter = { field: 'year', gte: 1950 }
    const { hits } = await query(server, { query: 'automobile', filter })
    expect(hits.map(({ title }) => title)).toEqual(['Vehicles'])
  })

  it('finds a replaced text by its new meaning, and not by the old one', async () => {
    const id = await server.ingest(CAR)
    await server.request(`/documents/${id}`, { method: 'PUT', body: DOCTOR })
    await settledDocument(server.request, id)
    const { hits } = await query(server, { query: 'physician' })
    expect(hits.map(({ text }) => text)).toEqual([DOCTOR.text])
  })

  it('no longer finds what was deleted', async () => {
    const id = await server.ingest(CAR)
    await server.request(`/documents/${id}`, { method: 'DELETE' })
    expect((await query(server, { query: 'automobile' })).hits).toEqual([])
  })
})

describe('an embedder that is down', () => {
  it(
    'leaves documents to be found by words, and by meaning when it is back',
    verifies('hybrid.ingestion.waits'),
    async () => {
      const { server, embedder } = await startHybrid()
      const readMeaning = async () =>
        Readiness.parse(await readJson(server, '/readiness')).embeddings
      await server.ingest(DOCTOR)
      embedder.reply = () => DOWN
      const created = await server.request('/documents?wait=10', { body: CAR })
      const { id, status } = DocumentCreated.parse(await created.json())
      expect(status).toBe('ready')
      expect((await query(server, { query: 'a car' })).hits[0]?.title).toBe('Vehicles')
      expect(await readJson(server, `/documents/${id}`)).toMatchObject({
        embeddings: { missing: 1 },
      })
      await expect.poll(readMeaning).toMatchObject({ state: 'waiting', missing: 1 })
      const metrics = await (await server.request('/metrics')).text()
      expect(metrics).toContain('agent_server_chunks_without_vector 1')
      const waited = await server.request(`/documents/${id}?wait=0.1&for=embeddings`, {
        method: 'PUT',
        body: CAR,
      })
      expect(waited.status).toBe(202)

      embedder.reply = () => undefined
      const back = await server.request(`/documents/${id}?wait=30&for=embeddings`, {
        method: 'PUT',
        body: CAR,
      })
      expect(back.status).toBe(200)
      expect(await back.json()).toEqual({ id, status: 'ready', embeddings: { missing: 0 } })
      const found = await query(server, { query: 'automobile', topK: 1 })
      expect(found.hits.map(({ title }) => title)).toEqual(['Vehicles'])
      expect(await readMeaning()).toEqual({ state: 'done', missing: 0, refused: 0 })
    },
  )

  it(
    'leaves search by words, which says so everywhere',
    verifies('hybrid.degraded', 'hybrid.degraded.readiness'),
    async () => {
      const { server, embedder } = await startHybrid()
      await server.ingest(CAR)
      embedder.reply = () => DOWN
      const found = await query(server, { query: 'a car' })
      expect(found).toMatchObject({ degraded: true, hits: [{ title: 'Vehicles' }] })

      const body = { messages: [{ role: 'user', content: 'What does a car need?' }] }
      const chat = await readChat(await server.request('/chat', { body }))
      expect(chat.frames.at(-1)).toMatchObject({ frame: { type: 'done', degraded: true } })

      const readiness = await server.request('/readiness')
      expect(readiness.status).toBe(200)
      const text = await readiness.text()
      expect(JSON.parse(text)).toMatchObject({
        status: 'ready',
        degraded: true,
        retrieval: 'hybrid',
        checks: { embedder: { state: 'failed', message: expect.any(String) } },
      })
      expect(text).not.toContain('embedding-key-5521')
    },
  )

  it('cannot hold up a question by keeping silent', {
    ...verifies('hybrid.query.deadline'),
    ...onlyLong,
  }, async () => {
    const { server, embedder } = await startHybrid()
    await server.ingest(CAR)
    embedder.reply = () => 'hang'
    const begun = performance.now()
    expect(await query(server, { query: 'a car' })).toMatchObject({ degraded: true })
    expect(performance.now() - begun).toBeLessThan(20_000)
    expect(await query(server, { query: 'a car' })).toMatchObject({ degraded: true })
  })

  it('does not keep a server from starting', onlyLong, async () => {
    const embedder = await startScriptedEmbedder()
    await embedder.close()
    const server = await startServer({
      EMBEDDING_MODEL: 'hashed-words',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'any',
    })
    const { hits, degraded } = await query(server, { query: 'a car' })
    expect([hits, degraded]).toEqual([[], true])
    await server.request('/documents?wait=10', { body: CAR })
    expect((await query(server, { query: 'a car' })).hits).toHaveLength(1)
  })
})

it(
  'a passage that the embedder refuses is found by words alone, and no other waits for it',
  verifies('hybrid.ingestion.refused'),
  async () => {
    const { server, embedder } = await startHybrid()
    embedder.reply = ({ input }) =>
      input.some((text) => text.includes('forbidden'))
        ? { status: 400, body: { error: { message: 'content policy' } } }
        : undefined
    await server.ingest({ text: 'A forbidden text.' })
    await server.ingest(CAR)
    expect(await readJson(server, '/readiness')).toMatchObject({
      embeddings: { state: 'done', missing: 0, refused: 1 },
    })
    const { hits } = await query(server, { query: 'forbidden' })
    expect(hits[0]?.text).toBe('A forbidden text.')
    const found = await query(server, { query: 'automobile', topK: 1 })
    expect(found.hits.map(({ title }) => title)).toEqual(['Vehicles'])
  },
)
