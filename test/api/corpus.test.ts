import { ChunkList, DocumentCreated } from '@agent-server/schemas/document.ts'
import { DocumentBatchResult } from '@agent-server/schemas/document-batch.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { countDocuments, search } from '../support/knowledge.ts'
import { settledDocument, startServer } from '../support/server.ts'

const server = await startServer()

describe('GET /documents/{id}/chunks', () => {
  const chunksOf = async (id: string, parameters: string) =>
    ChunkList.parse(await (await server.request(`/documents/${id}/chunks${parameters}`)).json())

  it(
    'lists every chunk once over its pages, in the order of the text',
    verifies('documents.chunks'),
    async () => {
      const paragraph = 'A sentence about a lighthouse and its keeper. '.repeat(30)
      const text = Array.from({ length: 12 }, (_, n) => `# Part ${n}\n\n${paragraph}`).join('\n\n')
      const id = await server.ingest({ text })
      const found: ChunkList['chunks'] = []
      let cursor = ''
      do {
        const page = await chunksOf(id, `?limit=5${cursor}`)
        expect(page.chunks.length).toBeLessThanOrEqual(5)
        found.push(...page.chunks)
        cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`
      } while (cursor !== '')
      const { chunks } = await settledDocument(server.request, id)
      expect(found.map((chunk) => chunk.id)).toEqual(
        Array.from({ length: chunks }, (_, n) => `${id}-1-${n}`),
      )
      for (const chunk of found) expect(chunk.text).toBe(text.slice(chunk.start, chunk.end))
    },
  )

  it(
    'answers 404 where there is no such document',
    verifies('documents.chunks', 'documents.unknown'),
    async () => {
      const failure = await failureOf(await server.request('/documents/unknown/chunks'))
      expect(failure).toMatchObject({ status: 404, code: 'document_not_found' })
    },
  )

  it.each([
    ['limit=0', 'limit'],
    ['cursor=x', 'cursor'],
  ])('refuses %s', verifies('documents.chunks', 'errors.field'), async (parameter, param) => {
    const id = await server.ingest({ text: 'x y' })
    const failure = await failureOf(await server.request(`/documents/${id}/chunks?${parameter}`))
    expect(failure).toMatchObject({ status: 400, param })
  })
})

describe('?wait= of POST /documents', verifies('documents.wait', 'errors.field'), () => {
  it('answers 200 once the document is ready', async () => {
    const response = await server.request('/documents?wait=60', { body: { text: 'Puffins dive.' } })
    const { id, status } = DocumentCreated.parse(await response.json())
    expect([response.status, status]).toEqual([200, 'ready'])
    expect(response.headers.get('location')).toBe(`/documents/${id}`)
    expect(await search(server, 'puffins')).toHaveLength(1)
  })

  it('answers 202 with the state of the moment when the time is over', async () => {
    const idle = await startServer({}, { begin: false })
    const response = await idle.request('/documents?wait=0.2', { body: { text: 'x' } })
    expect([response.status, await response.json()]).toMatchObject([202, { status: 'pending' }])
  })

  it('lets a server stop that is waited for', async () => {
    const idle = await startServer({}, { begin: false })
    const waiting = idle.request('/documents?wait=60', { body: { text: 'x' } })
    while ((await countDocuments(idle)) === 0);
    await idle.close()
    expect((await waiting).status).toBe(202)
  })

  it.each(['', '-1', '61', 'long', 'NaN'])('refuses %j and stores nothing', async (wait) => {
    const before = await countDocuments(server)
    const response = await server.request(`/documents?wait=${wait}`, { body: { text: 'x' } })
    expect(await failureOf(response)).toMatchObject({ status: 400, param: 'wait' })
    expect(await countDocuments(server)).toBe(before)
  })
})

describe('POST /documents/batch', () => {
  const post = (body: unknown, on = server) => on.request('/documents/batch', { body })
  const resultsOf = async (response: Response) =>
    DocumentBatchResult.parse(await response.json()).results

  it('stores every document, and answers in their order', verifies('documents.batch'), async () => {
    const texts = Array.from({ length: 50 }, (_, n) => `Batched number${n}.`)
    const response = await post(texts.map((text) => ({ text, metadata: { batch: true } })))
    expect(response.status).toBe(202)
    const results = await resultsOf(response)
    expect(results).toHaveLength(50)
    for (const result of results) {
      expect(await settledDocument(server.request, 'id' in result ? result.id : '')).toMatchObject({
        status: 'ready',
        metadata: { batch: true },
      })
    }
    const last = results.at(-1)
    expect(await search(server, 'number49')).toMatchObject([
      { documentId: last && 'id' in last ? last.id : '' },
    ])
  })

  it(
    'takes an id or a key with each, so that it is safe to send the batch again',
    verifies('documents.batch.ids'),
    async () => {
      const batch = [
        { id: 'batch-owls', text: 'Owls hunt.', title: null },
        { idempotencyKey: 'batch-herons', text: 'Herons wait.' },
      ]
      const first = await resultsOf(await post(batch))
      expect(first[0]).toMatchObject({ id: 'batch-owls' })
      const second = await resultsOf(await post(batch))
      expect(second.map((result) => 'id' in result && result.id)).toEqual(
        first.map((result) => 'id' in result && result.id),
      )
      const owls = await settledDocument(server.request, 'batch-owls')
      expect(owls).toMatchObject({ status: 'ready', revision: 2 })
      const other = [{ idempotencyKey: 'batch-herons', text: 'Other.' }, { text: 'Storks nest.' }]
      expect(await resultsOf(await post(other))).toMatchObject([
        { error: { code: 'idempotency_conflict' } },
        { status: 'pending' },
      ])
    },
  )

  it('lets those alone fail that find no room', verifies('documents.batch'), async () => {
    const idle = await startServer({ INGEST_QUEUE_LIMIT: '2' }, { begin: false })
    const batch = ['One.', 'Two.', 'Three.'].map((text) => ({ text }))
    const results = await resultsOf(await post(batch, idle))
    expect(results).toMatchObject([
      { status: 'pending' },
      { status: 'pending' },
      { error: { code: 'queue_full' } },
    ])
    expect(await failureOf(await post(batch, idle))).toMatchObject({
      status: 429,
      code: 'queue_full',
    })
    expect(await countDocuments(idle)).toBe(2)
  })

  it.each<[string, unknown, string | null]>([
    ['no list', { text: 'x' }, null],
    [
      'an id that comes twice',
      [
        { id: 'a', text: 'x' },
        { id: 'a', text: 'y' },
      ],
      '1.id',
    ],
    ['an id that is none', [{ text: 'x' }, { id: 'a b', text: 'y' }], '1.id'],
    ['an id and a key', [{ id: 'a', idempotencyKey: 'k', text: 'y' }], '0.idempotencyKey'],
    ['an empty list', [], null],
    ['more than a thousand', Array.from({ length: 1_001 }, () => ({ text: 'x' })), null],
    ['one without text', [{ text: 'x' }, { title: 'y' }], '1.text'],
  ])(
    'refuses %s and stores nothing',
    verifies('documents.batch', 'errors.field'),
    async (_what, body, param) => {
      const before = await countDocuments(server)
      expect(await failureOf(await post(body))).toMatchObject({ status: 400, param })
      expect(await countDocuments(server)).toBe(before)
    },
  )
})
