import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { countDocuments, listDocuments, search } from '../support/knowledge.ts'
import { settledDocument, startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const HOURS = {
  title: 'Opening hours',
  text: 'The library opens at nine on weekdays and at ten on Saturdays.',
  url: 'https://example.org/hours',
}

const server = await startServer()

describe('POST /documents', () => {
  it(
    'answers 202 with the identifier, a pending status and the address of the document',
    verifies(
      'endpoint.documents',
      'documents.create.id',
      'documents.create.status',
      'documents.create.pending',
      'documents.create.accepted',
    ),
    async () => {
      const response = await server.request('/documents', { body: HOURS })
      expect(response.status).toBe(202)
      const body = DocumentCreated.strict().parse(await response.json())
      expect(body).toEqual({ id: expect.any(String), status: 'pending' })
      expect(response.headers.get('location')).toBe(`/documents/${body.id}`)
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    },
  )

  it(
    'takes a text alone, without title or url',
    verifies('document.text', 'document.title', 'document.url'),
    async () => {
      const id = await server.ingest({ text: 'Herons wait.' })
      const document = await settledDocument(server.request, id)
      expect(document).not.toHaveProperty('title')
      expect(document).not.toHaveProperty('url')
    },
  )

  it.each([
    ['no text', { title: 'x' }, 'text'],
    ['an empty text', { text: '' }, 'text'],
    ['a text of white space', { text: ' \n\t ' }, 'text'],
    ['a text of NULs', { text: '\u0000\u0000' }, 'text'],
    ['a text that is a number', { text: 5 }, 'text'],
    ['a text that is null', { text: null }, 'text'],
    ['a title that is a list', { text: 'x', title: ['x'] }, 'title'],
    ['a title past its bound', { text: 'x', title: 'x'.repeat(1_001) }, 'title'],
    ['a url that is an object', { text: 'x', url: {} }, 'url'],
    ['a url past its bound', { text: 'x', url: `https://a.test/${'x'.repeat(4_000)}` }, 'url'],
    ['a url that runs code', { text: 'x', url: 'javascript:alert(1)' }, 'url'],
    ['a url that is data', { text: 'x', url: 'data:text/html,<script>alert(1)</script>' }, 'url'],
    ['a url without a scheme', { text: 'x', url: '//a.test/b' }, 'url'],
  ])(
    'refuses %s, naming the field, and stores nothing',
    verifies('document.text', 'document.title', 'document.url', 'errors.field', 'input.types'),
    async (_case, body, param) => {
      const before = await countDocuments(server)
      const failure = await failureOf(await server.request('/documents', { body }))
      expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
      expect(await countDocuments(server)).toBe(before)
    },
  )

  it('makes a new document of the same text', verifies('documents.new'), async () => {
    const ids = [await server.ingest(HOURS), await server.ingest(HOURS)]
    expect(new Set(ids).size).toBe(2)
  })

  it(
    'answers 429 with Retry-After while too many documents wait, and stores nothing',
    verifies('documents.queue-full', 'errors.retry-after'),
    async () => {
      const idle = await startServer({ INGEST_QUEUE_LIMIT: '2' }, { begin: false })
      for (const text of ['One.', 'Two.']) {
        expect((await idle.request('/documents', { body: { text } })).status).toBe(202)
      }
      const failure = await failureOf(
        await idle.request('/documents', { body: { text: 'Three.' } }),
      )
      expect(failure).toMatchObject({ status: 429, code: 'queue_full', type: 'rate_limit_error' })
      expect(Number(failure.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await countDocuments(idle)).toBe(2)
    },
  )
})

describe('GET /documents/{id}', () => {
  it(
    'tells what became of the document',
    verifies('documents.read', 'documents.status'),
    async () => {
      const id = await server.ingest(HOURS)
      const response = await server.request(`/documents/${id}`)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({
        id,
        title: HOURS.title,
        url: HOURS.url,
        status: 'ready',
        attempts: 1,
        revision: 1,
        servedRevision: 1,
        chunks: 1,
        characters: HOURS.text.length,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      })
    },
  )

  it(
    'splits a long document into chunks that a query returns one by one',
    verifies('service.split'),
    async () => {
      const text = Array.from(
        { length: 60 },
        (_, n) => `## Part ${n}\n\n${`Sentence about lighthouse number ${n}. `.repeat(20)}`,
      ).join('\n\n')
      const id = await server.ingest({ title: 'Lighthouses', text })
      const { chunks } = await settledDocument(server.request, id)
      expect(chunks).toBeGreaterThan(5)
      const hits = await search(server, 'lighthouse number 41')
      for (const hit of hits) expect(hit.text).toBe(text.slice(hit.start, hit.end))
      expect(hits[0]?.text).toContain('number 41')
    },
  )

  it.each([
    ['GET', '/documents/doc_unknown'],
    ['DELETE', '/documents/doc_unknown'],
    ['POST', '/documents/doc_unknown/retry'],
  ])(
    'answers 404 to %s of an unknown document',
    verifies('documents.unknown'),
    async (method, path) => {
      const failure = await failureOf(await server.request(path, { method }))
      expect(failure).toMatchObject({ status: 404, code: 'document_not_found', param: 'id' })
    },
  )

  it('answers 400 to an identifier past its bound', verifies('errors.field'), async () => {
    const failure = await failureOf(await server.request(`/documents/${'x'.repeat(257)}`))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param: 'id' })
  })
})

describe('GET /documents', () => {
  it(
    'lists every document once over its pages, newest first',
    verifies('documents.list'),
    async () => {
      const own = await startServer()
      const ids: string[] = []
      for (const n of [1, 2, 3, 4, 5]) ids.push(await own.ingest({ text: `Document ${n}.` }))
      const pages: string[][] = []
      let cursor = ''
      do {
        const page = await listDocuments(own, `?limit=2${cursor}`)
        pages.push(page.documents.map(({ id }) => id))
        cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`
      } while (cursor !== '')
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1])
      expect(pages.flat()).toEqual(ids.toReversed())
    },
  )

  it('hands out cursors that tell nothing, and takes no others', async () => {
    for (const text of ['One.', 'Two.']) await server.ingest({ text })
    const { nextCursor = '' } = await listDocuments(server, '?limit=1')
    expect(Buffer.from(nextCursor, 'base64url').toString()).not.toContain('createdAt')
    const guess = Buffer.from(JSON.stringify(['-createdAt', 0, 2])).toString('base64url')
    for (const cursor of [guess, nextCursor.slice(0, -2), 'x']) {
      const failure = await failureOf(await server.request(`/documents?cursor=${cursor}`))
      expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param: 'cursor' })
    }
  })

  it('filters by status', verifies('documents.list.status'), async () => {
    await server.ingest(HOURS)
    const { documents: ready } = await listDocuments(server, '?status=ready&limit=100')
    const { documents: failed } = await listDocuments(server, '?status=failed')
    expect(new Set(ready.map(({ status }) => status))).toEqual(new Set(['ready']))
    expect(failed).toEqual([])
  })

  it.each([
    ['a limit of 0', '?limit=0', 'limit'],
    ['a limit of 101', '?limit=101', 'limit'],
    ['an empty limit', '?limit=', 'limit'],
    ['a limit that is no number', '?limit=many', 'limit'],
    ['a limit with a fraction', '?limit=1.5', 'limit'],
    ['an unknown status', '?status=lost', 'status'],
    ['a cursor that it never gave', '?cursor=tomorrow', 'cursor'],
    ['an empty cursor', '?cursor=', 'cursor'],
  ])('refuses %s', verifies('documents.list', 'errors.field'), async (_case, search, param) => {
    const failure = await failureOf(await server.request(`/documents${search}`))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
  })
})

describe('DELETE /documents/{id}', () => {
  it(
    'removes the document from every later answer',
    verifies('documents.delete', 'documents.ready'),
    async () => {
      const id = await server.ingest({ text: 'The zeppelin landed beside the cathedral.' })
      expect((await search(server, 'zeppelin')).map(({ documentId }) => documentId)).toEqual([id])
      const response = await server.request(`/documents/${id}`, { method: 'DELETE' })
      expect([response.status, await response.text()]).toEqual([204, ''])
      expect(await search(server, 'zeppelin')).toEqual([])
      expect((await server.request(`/documents/${id}`)).status).toBe(404)
      expect((await server.request(`/documents/${id}`, { method: 'DELETE' })).status).toBe(404)
    },
  )
})

describe('POST /documents/{id}/retry', () => {
  it('answers 409 for a document that has not failed', verifies('documents.retry'), async () => {
    const id = await server.ingest(HOURS)
    const response = await server.request(`/documents/${id}/retry`, { method: 'POST' })
    expect(await failureOf(response)).toMatchObject({ status: 409, code: 'document_not_failed' })
  })

  it(
    'makes a failed document ready, which says until then why it failed and how often it was tried',
    verifies('documents.failed', 'documents.retry', 'documents.status', 'documents.list.status'),
    async () => {
      const directory = await temporaryDirectory()
      const id = await leaveBegunDocument(directory, 5)
      const { request } = await startServer({ DATA_DIR: directory })
      expect(await settledDocument(request, id)).toMatchObject({
        status: 'failed',
        attempts: 6,
        chunks: 0,
        error: { code: 'attempts_exhausted', message: expect.stringMatching(/5 times/) },
      })
      const failed = await (await request('/documents?status=failed')).json()
      expect(failed).toMatchObject({ documents: [{ id }] })

      const response = await request(`/documents/${id}/retry`, { method: 'POST' })
      expect([response.status, await response.json()]).toEqual([202, { id, status: 'pending' }])
      const retried = await settledDocument(request, id)
      expect(retried).toMatchObject({ status: 'ready', attempts: 1, chunks: 1 })
      expect(retried).not.toHaveProperty('error')
    },
  )
})

describe('What was acknowledged', () => {
  it('is there after a restart, ready and found', verifies('documents.durable'), async () => {
    const directory = await temporaryDirectory()
    const first = await startServer({ DATA_DIR: directory })
    const ready = await first.ingest({ text: 'Otters hold hands.' })
    const response = await first.request('/documents', { body: { text: 'Owls turn their heads.' } })
    const { id: pending } = DocumentCreated.parse(await response.json())
    await first.close()

    const second = await startServer({ DATA_DIR: directory })
    expect((await settledDocument(second.request, pending)).status).toBe('ready')
    expect((await settledDocument(second.request, ready)).attempts).toBe(1)
    const found = [...(await search(second, 'otters')), ...(await search(second, 'owls'))]
    expect(found.map(({ documentId }) => documentId)).toEqual([ready, pending])
  })
})

/** A document whose ingestion was begun so many times by servers that never came to its end. */
async function leaveBegunDocument(directory: string, times: number): Promise<string> {
  const idle = await startServer({ DATA_DIR: directory }, { begin: false })
  const response = await idle.request('/documents', { body: HOURS })
  const { id } = DocumentCreated.parse(await response.json())
  await idle.close()
  const database = new DatabaseSync(join(directory, 'agent-server.db'))
  database.prepare('UPDATE documents SET attempts = ?').run(times)
  database.close()
  return id
}
