import { afterEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { search } from '../support/knowledge.ts'
import { long, someOf } from '../support/long.ts'
import type { FakeQdrant, Misfortune } from '../support/qdrant/fake-qdrant.ts'
import { OTTERS, post, readiness, startShared, textsBy } from '../support/qdrant/shared-server.ts'
import { settledDocument } from '../support/server.ts'

/** Bounds what two answers may take: QDRANT_TIMEOUT each, and what a busy machine adds. */
const TIMEOUT_MS = 60_000

/** Nothing but searches suffers, or nothing but changes. */
function suffering(misfortune: Misfortune, part: 'query' | 'change'): FakeQdrant['mishap'] {
  return ({ call }) =>
    call.includes('/query') === (part === 'query') && call.includes('/points')
      ? misfortune
      : undefined
}

const SHORT = { QDRANT_TIMEOUT: '3' }

describe('A server with two copies of its index, one of which is away', () => {
  it.each([
    ['takes documents in', {}, 'ready'],
    [
      'says that it takes none in where both are asked for',
      { QDRANT_WRITE_CONSISTENCY: '2' },
      'pending',
    ],
  ])('%s', verifies('qdrant.outage.ingestion'), async (_case, more, status) => {
    const { qdrant, server } = await startShared({ ...SHORT, QDRANT_REPLICAS: '2', ...more })
    qdrant.deadCopies = 1
    const id = await post(server, OTTERS)
    const document = async () => (await server.request(`/documents/${id}`)).json()
    await expect.poll(document).toMatchObject({ status, attempts: status === 'ready' ? 1 : 0 })
    if (status === 'ready') return
    const ingestion = { state: 'failed', message: expect.stringContaining('is stalled') }
    await expect
      .poll(() => readiness(server))
      .toMatchObject({ status: 200, body: { degraded: true, checks: { ingestion } } })
  })
})

describe('A server that reaches three nodes at one address, one of which hangs', () => {
  it('is ready, as its queries are answered', verifies('qdrant.outage.readiness'), async () => {
    const { qdrant, server } = await startShared()
    await server.ingest(OTTERS)
    let asked = 0
    qdrant.mishap = () => (asked++ % 3 === 0 ? 'hang' : undefined)
    for (let look = 0; look < 6; look++) expect((await readiness(server)).status).toBe(200)
    expect(await search(server, 'otters')).not.toHaveLength(0)
  })
})

const { qdrant, server } = await startShared(SHORT)
await server.ingest({ ...OTTERS, metadata: { year: 2026 } })

describe('A server whose Qdrant is out of order', () => {
  afterEach(() => {
    qdrant.mishap = () => undefined
  })

  it.each(
    someOf<[string, Misfortune]>(
      [
        ['hangs', 'hang'],
        ['fails', { status: 500 }],
        ['answers nonsense', 'nonsense'],
      ],
      1,
    ),
  )(
    'answers index_unavailable in bounded time where Qdrant %s when it is asked what it can filter by',
    { ...long, ...verifies('qdrant.outage.query', 'qdrant.filters'), timeout: TIMEOUT_MS },
    async (_case, misfortune) => {
      qdrant.mishap = ({ call }) =>
        call === 'GET /collections/{collection_name}' ? misfortune : undefined
      const filter = { field: 'unknown', gt: 1 }
      const refused = await server.request('/query', { body: { query: 'otters', filter } })
      expect(await failureOf(refused)).toMatchObject({ status: 503, code: 'index_unavailable' })
      expect(await textsBy(server, { field: 'year', gt: 2025 })).toEqual([OTTERS.text])
      qdrant.mishap = () => undefined
      expect(await textsBy(server, filter)).toEqual([])
    },
  )

  it.each(
    someOf<[string, Misfortune]>(
      [
        ['does not answer', 'hang'],
        ['fails', { status: 500 }],
        ['breaks off', 'break'],
        ['answers nonsense', 'nonsense'],
      ],
      2,
    ),
  )(
    'answers index_unavailable in bounded time while Qdrant %s, and as before once it is well',
    { ...long, ...verifies('qdrant.outage.query'), timeout: TIMEOUT_MS },
    async (_case, misfortune) => {
      qdrant.mishap = suffering(misfortune, 'query')
      const refused = await server.request('/query', { body: { query: 'otters' } })
      expect(await failureOf(refused)).toMatchObject({ status: 503, code: 'index_unavailable' })
      const messages = [{ role: 'user', content: 'What do otters do?' }]
      const chat = await server.request('/chat', { body: { messages } })
      const written = chat.ok ? (await readChat(chat)).error : await failureOf(chat)
      expect(written).toMatchObject({ code: 'index_unavailable' })
      qdrant.mishap = () => undefined
      expect(await search(server, 'otters')).not.toHaveLength(0)
    },
  )

  it('changes no metadata while Qdrant is away, and says so', { timeout: TIMEOUT_MS }, async () => {
    const id = await post(server, { text: 'Stoats dance.', metadata: { year: 2026 } })
    await settledDocument(server.request, id)
    const change = () =>
      server.request(`/documents/${id}`, { method: 'PATCH', body: { metadata: { year: 2027 } } })
    qdrant.mishap = () => ({ status: 503 })
    expect(await failureOf(await change())).toMatchObject({
      status: 503,
      code: 'index_unavailable',
    })
    qdrant.mishap = () => undefined
    expect(await (await server.request(`/documents/${id}`)).json()).toMatchObject({
      metadata: { year: 2026 },
    })
    expect((await change()).status).toBe(200)
  })

  it(
    'is not ready while Qdrant fails, and says that it is the index',
    verifies('qdrant.outage.readiness'),
    async () => {
      qdrant.mishap = () => ({ status: 503 })
      expect(await readiness(server)).toMatchObject({
        status: 503,
        body: { checks: { store: { state: 'ok' }, index: { state: 'failed' } } },
      })
      qdrant.mishap = () => undefined
      expect((await readiness(server)).status).toBe(200)
    },
  )

  it.each([
    ['Max points count limit of 10 reached!', 'index_unavailable', /limits .* too low/],
    ['Words that nobody knows', 'index_failed', /refused the document/],
  ])(
    'says that documents wait where Qdrant refuses them: %s',
    verifies('qdrant.outage.ingestion'),
    async (error, code, words) => {
      qdrant.mishap = suffering({ status: 400, error: `Bad request: ${error}` }, 'change')
      const id = await post(server, OTTERS)
      const document = async () => (await server.request(`/documents/${id}`)).json()
      const message = expect.stringMatching(words)
      const waiting = { status: 'pending', error: { code, message } }
      await expect.poll(document).toMatchObject(waiting)
      expect(await readiness(server)).toMatchObject({
        status: 200,
        body: { degraded: true, checks: { ingestion: { state: 'failed', message } } },
      })
      qdrant.mishap = () => undefined
      expect(await settledDocument(server.request, id)).toMatchObject({ status: 'ready' })
    },
  )

  it(
    'lets documents wait while Qdrant takes nothing, and makes them ready by itself',
    verifies('qdrant.outage.ingestion'),
    async () => {
      qdrant.mishap = suffering({ status: 500 }, 'change')
      const ids = await Promise.all([post(server, OTTERS), post(server, { text: 'Beavers.' })])
      await expect
        .poll(async () => (await server.request(`/documents/${ids[0]}`)).json())
        .toMatchObject({ status: 'pending', error: { code: 'index_unavailable' }, attempts: 0 })
      const message = expect.stringMatching(/^Ingestion is stalled: .*index/)
      expect(await readiness(server)).toMatchObject({
        status: 200,
        body: { degraded: true, checks: { ingestion: { state: 'failed', message } } },
      })
      qdrant.mishap = () => undefined
      for (const id of ids) {
        expect(await settledDocument(server.request, id)).toMatchObject({ status: 'ready' })
      }
      expect(await search(server, 'otters')).not.toHaveLength(0)
      expect((await readiness(server)).body).toMatchObject({
        checks: { ingestion: { state: 'ok' } },
      })
    },
  )
})
