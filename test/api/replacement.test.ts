import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { countDocuments, search } from '../support/knowledge.ts'
import { settledDocument, startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const server = await startServer()

const createdBy = async (response: Response) => DocumentCreated.parse(await response.json())
const put = (id: string, body: unknown, wait = '?wait=20', on = server) =>
  on.request(`/documents/${id}${wait}`, { method: 'PUT', body })

describe('PUT /documents/{id}', () => {
  it(
    'makes a document under an id of the caller’s',
    verifies('documents.put', 'documents.put.id'),
    async () => {
      const response = await put('handbook:1', { text: 'Walruses whistle.' })
      expect([response.status, await response.json()]).toEqual([
        200,
        { id: 'handbook:1', status: 'ready' },
      ])
      expect(response.headers.get('location')).toBe('/documents/handbook:1')
      expect(await search(server, 'walruses')).toMatchObject([{ documentId: 'handbook:1' }])
    },
  )

  it(
    'replaces the content: the very next query finds the new, and nothing of the old',
    verifies('documents.put', 'documents.put.swap'),
    async () => {
      const id = await server.ingest({ title: 'Old', text: 'Ocelots climb.', url: 'https://old' })
      expect((await put(id, { title: 'New', text: 'Ocelots swim in rivers.' })).status).toBe(200)
      const hits = (await search(server, 'ocelots')).filter(({ documentId }) => documentId === id)
      expect(hits).toMatchObject([
        { id: `${id}-2-0`, title: 'New', text: 'Ocelots swim in rivers.' },
      ])
      expect(hits[0]).not.toHaveProperty('url')
      expect(await settledDocument(server.request, id)).toMatchObject({
        title: 'New',
        revision: 2,
        servedRevision: 2,
        characters: 23,
      })
    },
  )

  it(
    'keeps the earlier content found, as it was described, until the new one is ready',
    verifies('documents.put.swap'),
    async () => {
      const directory = await temporaryDirectory()
      const id = await readyDocument(directory)
      const idle = await startServer({ DATA_DIR: directory }, { begin: false })
      const response = await put(id, { title: 'New', text: 'Lemurs sing.' }, '', idle)
      expect([response.status, await response.json()]).toEqual([202, { id, status: 'pending' }])
      expect(await (await idle.request(`/documents/${id}`)).json()).toMatchObject({
        title: 'Old',
        status: 'pending',
        revision: 2,
        servedRevision: 1,
      })
      const chunks = await (await idle.request(`/documents/${id}/chunks`)).json()
      expect(chunks).toMatchObject({ chunks: [{ text: 'Lemurs leap.' }] })
      await idle.close()

      const busy = await startServer({ DATA_DIR: directory })
      await settledDocument(busy.request, id)
      expect(await search(busy, 'lemurs')).toMatchObject([{ title: 'New', text: 'Lemurs sing.' }])
    },
  )

  it(
    'that fails leaves the earlier content found, and says so',
    verifies('documents.put.failed'),
    async () => {
      const directory = await temporaryDirectory()
      const id = await readyDocument(directory)
      const idle = await startServer({ DATA_DIR: directory }, { begin: false })
      await put(id, { title: 'New', text: 'Lemurs sing.' }, '', idle)
      await idle.close()
      exhaust(directory)

      const busy = await startServer({ DATA_DIR: directory })
      expect(await settledDocument(busy.request, id)).toMatchObject({
        title: 'Old',
        status: 'failed',
        revision: 2,
        servedRevision: 1,
        error: { code: 'attempts_exhausted' },
      })
      expect(await search(busy, 'lemurs')).toMatchObject([{ title: 'Old', text: 'Lemurs leap.' }])
      await busy.request(`/documents/${id}/retry`, { method: 'POST' })
      expect(await settledDocument(busy.request, id)).toMatchObject({ title: 'New' })
      expect(await search(busy, 'lemurs')).toMatchObject([{ text: 'Lemurs sing.' }])
    },
  )

  it.each(['a b', '-a', 'a/b', 'ä', 'x'.repeat(129), '..'])(
    'refuses the id %j',
    verifies('documents.put.id', 'errors.field'),
    async (id) => {
      const failure = await failureOf(await put(encodeURIComponent(id), { text: 'x' }))
      // A path of two dots is resolved before it is sent.
      if (id === '..') expect(failure).toMatchObject({ status: 404 })
      else expect(failure).toMatchObject({ status: 400, param: 'id' })
    },
  )

  it('ends the same whatever comes at once', verifies('documents.put.swap'), async () => {
    const texts = Array.from({ length: 20 }, (_, version) => `Quokka number${version}.`)
    await Promise.all(texts.map((text) => put('quokka', { text })))
    const { revision, servedRevision } = await settledDocument(server.request, 'quokka')
    expect([revision, servedRevision]).toEqual([20, 20])
    expect(await search(server, 'quokka')).toHaveLength(1)
  })
})

describe('POST /documents with an Idempotency-Key', () => {
  const post = (key: string, body: unknown) =>
    server.request('/documents', { body, headers: { 'idempotency-key': key } })

  it('makes one document of a repeated request', verifies('documents.idempotency'), async () => {
    const before = await countDocuments(server)
    const metadata = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 1, b: 2 },
    ]
    const all = await Promise.all(
      metadata.map((facts) => post('same', { text: 'Once.', metadata: facts })),
    )
    const ids = await Promise.all(all.map(async (response) => (await createdBy(response)).id))
    expect(new Set(ids).size).toBe(1)
    await settledDocument(server.request, ids[0] ?? '')
    const later = await post('same', { text: 'Once.', metadata: { a: 1, b: 2 } })
    expect([later.status, await later.json()]).toEqual([200, { id: ids[0], status: 'ready' }])
    expect(await countDocuments(server)).toBe(before + 1)
  })

  it.each([{ text: 'Two.' }, { text: 'One.', title: 'x' }, { text: 'One.', metadata: { a: 1 } }])(
    'answers 409 to the same key with another document: %j',
    verifies('documents.idempotency.conflict'),
    async (other) => {
      await post('conflict', { text: 'One.' })
      expect(await failureOf(await post('conflict', other))).toMatchObject({
        status: 409,
        code: 'idempotency_conflict',
        param: 'idempotency-key',
      })
    },
  )

  it(
    'takes the key for new once the document is deleted',
    verifies('documents.idempotency'),
    async () => {
      const { id } = await createdBy(await post('freed', { text: 'One.' }))
      await server.request(`/documents/${id}`, { method: 'DELETE' })
      expect((await createdBy(await post('freed', { text: 'Two.' }))).id).not.toBe(id)
    },
  )

  it.each(['', 'x'.repeat(256), 'a b'])(
    'refuses the key %.9j',
    verifies('documents.idempotency', 'errors.field'),
    async (key) => {
      expect(await failureOf(await post(key, { text: 'x' }))).toMatchObject({
        status: 400,
        code: 'invalid_request',
        param: 'idempotency-key',
      })
    },
  )
})

async function readyDocument(directory: string): Promise<string> {
  const first = await startServer({ DATA_DIR: directory })
  const id = await first.ingest({ title: 'Old', text: 'Lemurs leap.' })
  await first.close()
  return id
}

/** As if the ingestion had been begun five times by servers that never came to its end. */
function exhaust(directory: string): void {
  const database = new DatabaseSync(join(directory, 'agent-server.db'))
  database.prepare('UPDATE documents SET attempts = 5').run()
  database.close()
}
