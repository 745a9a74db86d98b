import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { runRebuildIndex } from '../../src/commands/rebuild.ts'
import { loadConfig } from '../../src/config.ts'
import { verifies } from '../requirements.ts'
import { search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { speakingFor } from '../support/people.ts'
import { type FakeQdrant, startFakeQdrant } from '../support/qdrant/fake-qdrant.ts'
import { OTTERS, post, readiness, startShared, textsBy } from '../support/qdrant/shared-server.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { settledDocument, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

/** What the command writes for whoever runs it. */
async function rebuildIndex(environment: Record<string, string>): Promise<string> {
  let written = ''
  const code = await runRebuildIndex({
    parameters: [],
    environment: {},
    config: () =>
      loadConfig({ SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...environment }),
    createLog: () => pino({ level: 'silent' }),
    stderr: {
      write: (text: string) => {
        written += text
      },
    },
    signal: new AbortController().signal,
  })
  expect(code).toBe(0)
  return written
}

/** Whether a search was written the keys to look among; a question for an idf names one. */
function hasId({ requests }: FakeQdrant): boolean {
  return requests.some(
    ({ call, body }) => call.endsWith('/points/query') && JSON.stringify(body).includes('has_id'),
  )
}

async function untilEmbedded(server: TestServer): Promise<void> {
  const ready = async () => (await readiness(server)).body
  await expect.poll(ready).toMatchObject({ embeddings: { state: 'done', missing: 0 } })
}

describe('A server with its index in Qdrant', () => {
  it('finds the documents of a removed person for whom they are handed to', async () => {
    const { server } = await startShared()
    const [ada, bob] = ['ada', 'bob'].map((name) => speakingFor(server, { name }))
    if (!ada || !bob) throw new Error('Nobody is there')
    await ada('/documents?wait=20', { body: OTTERS })
    const found = async () =>
      (await search({ ...server, request: bob }, 'otters hands')).map(({ title }) => title)
    expect(await found()).toEqual([])
    const path = '/admin/people/user:ada?handTo=user:bob'
    const removed = await server.request(path, { method: 'DELETE' })
    expect(await removed.json()).toMatchObject({ handedOn: { to: 'user:bob', documents: 1 } })
    expect(await found()).toEqual(['Otters'])
  })

  it('finds, filters, replaces and forgets as any other', verifies('qdrant.serves'), async () => {
    const { qdrant, server } = await startShared()
    const id = await server.ingest(OTTERS)
    await server.ingest({ title: 'Beavers', text: 'Beavers build dams.' })
    expect((await search(server, 'otters hands')).map(({ title }) => title)).toEqual(['Otters'])
    await server.request(`/documents/${id}?wait=10`, {
      method: 'PUT',
      body: { text: 'Otters swim.', metadata: { wet: true } },
    })
    expect((await search(server, 'otters hands')).map(({ text }) => text)).toEqual(['Otters swim.'])
    const body = { query: 'otters dams', filter: { field: 'wet', eq: true } }
    const filtered = await (await server.request('/query', { body })).json()
    expect(filtered).toMatchObject({ hits: [{ text: 'Otters swim.' }] })
    await server.request(`/documents/${id}`, { method: 'DELETE' })
    expect(await search(server, 'otters')).toEqual([])
    expect(qdrant.mistakes).toEqual([])
  })

  it(
    'filters by itself, by what a document says now, also after the index was made anew',
    verifies('qdrant.filters', 'qdrant.rebuild'),
    async () => {
      const embedder = await startScriptedEmbedder()
      const embedding = {
        EMBEDDING_MODEL: 'hashed-words',
        EMBEDDING_BASE_URL: embedder.url,
        EMBEDDING_API_KEY: 'embedding-key-5521',
      }
      const directory = await temporaryDirectory()
      const { qdrant, server, environment } = await startShared({
        DATA_DIR: directory,
        ...embedding,
      })
      const first = { day: '2026-11-20', year: 2026, wet: true }
      const id = await server.ingest({ ...OTTERS, metadata: first })
      await server.ingest({ text: 'Otters of old.', metadata: { day: '2025-01-02', year: 2025 } })
      await server.ingest({ text: 'Otters of no time.' })
      const metadata = { day: '2026-11-21', year: 2027, wet: false }
      await server.request(`/documents/${id}?wait=10`, {
        method: 'PUT',
        body: { ...OTTERS, metadata },
      })
      const look = async (asked: TestServer) => {
        expect(await textsBy(asked, { field: 'day', gte: '2026-11-21' })).toEqual([OTTERS.text])
        expect(await textsBy(asked, { field: 'year', gt: 2026 })).toEqual([OTTERS.text])
        expect(await textsBy(asked, { field: 'year', eq: 2026 })).toEqual([])
        expect(await textsBy(asked, { field: 'wet', eq: true })).toEqual([])
        expect(await textsBy(asked, { not: { field: 'year', gt: 1 } })).toEqual([
          'Otters of no time.',
        ])
      }
      await look(server)
      await server.close()
      await rebuildIndex(environment)
      await look(await startServer(environment))
      expect(hasId(qdrant)).toBe(false)
      expect(qdrant.mistakes).toEqual([])
    },
  )

  it(
    'has the document store name the chunks of a filter that Qdrant cannot answer',
    verifies('qdrant.filters'),
    async () => {
      const { qdrant, server } = await startShared()
      await server.ingest({ ...OTTERS, metadata: { author: 'Ada' } })
      await server.ingest({ text: 'Otters.', metadata: { author: 'Bob' } })
      expect(await textsBy(server, { field: 'author', lt: 'B' })).toEqual([OTTERS.text])
      expect(await textsBy(server, { field: 'author', gt: 'B'.repeat(40) })).toEqual(['Otters.'])
      expect(hasId(qdrant)).toBe(true)
      expect(qdrant.mistakes).toEqual([])
    },
  )

  it(
    'takes documents in and filters them, whatever number of payload indexes strict mode allows',
    verifies('qdrant.filters'),
    async () => {
      const { qdrant, server } = await startShared()
      qdrant.strict = { indexes: 20 }
      const metadataOf = (document: number) =>
        Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`n${document}-${i}`, i]))
      for (const document of [1, 2, 3]) {
        await server.ingest({ text: `Otters ${document}.`, metadata: metadataOf(document) })
      }
      for (const document of [1, 2, 3]) {
        const found = await textsBy(server, { field: `n${document}-11`, gt: 10 })
        expect(found).toEqual([`Otters ${document}.`])
      }
      expect(await readiness(server)).toMatchObject({ status: 200 })
      expect(qdrant.mistakes).toEqual([])
    },
  )

  it('filters by metadata that was changed alone, also after it was away', onlyLong, async () => {
    const embedder = await startScriptedEmbedder()
    const { server, qdrant } = await startShared({
      QDRANT_TIMEOUT: '3',
      EMBEDDING_MODEL: 'hashed-words',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'embedding-key-5521',
    })
    const id = await server.ingest({ ...OTTERS, metadata: { wet: false, year: 2020 } })
    const patch = (metadata: object) =>
      server.request(`/documents/${id}`, { method: 'PATCH', body: { metadata } })
    expect((await patch({ wet: true, year: 2026 })).status).toBe(200)
    expect(await textsBy(server, { field: 'wet', eq: true })).toEqual([OTTERS.text])
    expect(await textsBy(server, { field: 'year', gte: 2026 })).toEqual([OTTERS.text])
    expect(await textsBy(server, { field: 'wet', eq: false })).toEqual([])

    qdrant.mishap = ({ call }) => (call.startsWith('PUT') ? 'break' : undefined)
    expect((await patch({ wet: null })).status).toBe(503)
    // What the index says is not shown where the document store knows better.
    expect(await textsBy(server, { field: 'wet', eq: true })).toEqual([])
    qdrant.mishap = () => undefined
    expect((await patch({ wet: null })).status).toBe(200)
    expect(await textsBy(server, { not: { field: 'wet', eq: true } })).toEqual([OTTERS.text])
    expect(qdrant.mistakes).toEqual([])
  })

  it('searches by meaning, too', verifies('qdrant.serves'), async () => {
    const embedder = await startScriptedEmbedder()
    const { server, qdrant } = await startShared({
      QDRANT_TIMEOUT: '3',
      EMBEDDING_MODEL: 'hashed-words',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'embedding-key-5521',
    })
    await server.ingest({ title: 'Vehicles', text: 'A car needs fuel.' })
    await server.ingest(OTTERS)
    await untilEmbedded(server)
    expect((await search(server, 'automobile', 1)).map(({ title }) => title)).toEqual(['Vehicles'])
    expect(qdrant.mistakes).toEqual([])
  })

  it('writes the vectors of documents that wait for them together', onlyLong, async () => {
    const embedder = await startScriptedEmbedder()
    embedder.reply = () => ({ status: 503, body: {} })
    const { server, qdrant } = await startShared({
      EMBEDDING_MODEL: 'hashed-words',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: 'embedding-key-5521',
    })
    const count = 32
    for (let number = 0; number < count; number += 1) {
      await server.request('/documents?wait=20', { body: { text: `Otter ${number} swims.` } })
    }
    const before = qdrant.requests.length
    embedder.reply = () => undefined
    await untilEmbedded(server)
    const writes = qdrant.requests.slice(before).filter(({ call }) => call.startsWith('PUT'))
    const written = JSON.stringify(writes.map(({ body }) => body))
    expect(written.match(/"id":/g)).toHaveLength(count)
    expect(writes.length).toBeLessThan(count / 3)
  })

  it(
    'starts while Qdrant is away, says what it lacks, and works once Qdrant is there',
    verifies('qdrant.outage.start', 'qdrant.outage.readiness'),
    async () => {
      const qdrant = await startFakeQdrant()
      qdrant.mishap = () => ({ status: 502 })
      const server = await startServer({ QDRANT_URL: qdrant.url }, { begin: false })
      const begun = server.begin()
      const id = await post(server, OTTERS)
      expect(await readiness(server)).toMatchObject({
        status: 503,
        body: { checks: { index: { state: 'failed', message: expect.stringContaining('index') } } },
      })
      qdrant.mishap = () => undefined
      await begun
      expect(await settledDocument(server.request, id)).toMatchObject({ status: 'ready' })
      expect((await readiness(server)).status).toBe(200)
    },
  )

  it(
    'does not start on a collection of another language, and says what to do',
    verifies('qdrant.misfit'),
    async () => {
      const directory = await temporaryDirectory()
      const { server, environment } = await startShared({ DATA_DIR: directory })
      await server.close()
      const german = await startServer(
        { ...environment, SEARCH_LANGUAGE: 'german' },
        { begin: false },
      )
      await expect(german.begin()).rejects.toThrow(/rebuild-index/)
    },
  )

  it('does not start on collections of an older layout, and is given new ones by npm run rebuild-index', {
    ...onlyLong,
    ...verifies('qdrant.misfit', 'qdrant.rebuild'),
  }, async () => {
    const directory = await temporaryDirectory()
    const { qdrant, server, environment } = await startShared({ DATA_DIR: directory })
    await server.ingest({ ...OTTERS, metadata: { wet: true } })
    await server.close()
    const held = qdrant.store.collections.get('agent-server-terms-1')
    Object.assign(Object(held?.description).metadata, { layout: 1 })
    const refused = await startServer(environment, { begin: false })
    await expect(refused.begin()).rejects.toThrow(/rebuild-index/)
    await refused.close()
    await rebuildIndex(environment)
    const after = await startServer(environment)
    expect(await textsBy(after, { field: 'wet', eq: true })).toEqual([OTTERS.text])
    expect(qdrant.mistakes).toEqual([])
  })

  it(
    'is given a new index by npm run rebuild-index, with progress, and finds by it',
    verifies('qdrant.rebuild'),
    async () => {
      const directory = await temporaryDirectory()
      const { qdrant, server, environment } = await startShared({ DATA_DIR: directory })
      await server.ingest({ text: 'Die Häuser sind alt.' })
      expect(await search(server, 'Haus')).toEqual([])
      await server.close()

      const german = { ...environment, SEARCH_LANGUAGE: 'german' }
      const written = await rebuildIndex({ DATA_DIR: directory, ...german })
      expect(written).toContain('The new index is in use')
      expect([...qdrant.store.collections.keys()]).toEqual(['agent-server-terms-2'])
      expect(await search(await startServer(german), 'Haus')).toHaveLength(1)
      expect(qdrant.mistakes).toEqual([])
    },
  )

  it('leaves chunks alone that another server may just be adding', {
    ...verifies('qdrant.replicas'),
    ...onlyLong,
  }, async () => {
    const directory = await temporaryDirectory()
    const { qdrant, server, environment } = await startShared({ DATA_DIR: directory })
    await server.ingest(OTTERS)
    await server.close()
    const [held] = qdrant.store.collections.values()
    const point = { id: 4_000_000_000, vector: { terms: { indices: [1], values: [1] } } }
    held?.put([point])
    await startServer(environment)
    await pause(100)
    expect(held?.points.has(point.id)).toBe(true)
  })
})
