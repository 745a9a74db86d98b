import { Document } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Completion, ModelList } from '../../src/dialects/completions/answer-schema.ts'
import { failureOf } from '../support/failure.ts'
import { sendFile } from '../support/forms.ts'
import { listDocuments } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { requester, startServer } from '../support/server.ts'

const server = await startServer()
await server.ingest({ text: 'Owls hunt in the woods.', title: 'Free' })
await server.ingest({ text: 'Owls hunt in HR.', title: 'HR', collection: 'hr' })
await server.ingest({ text: 'Owls hunt in law.', title: 'Law', metadata: { collection: 'law' } })
const file = { name: 'file.txt', bytes: 'Owls hunt in files.' }
await sendFile(server, { ...file, before: { collection: 'hr' } })

const Listed = z.object({ data: z.array(z.object({ id: z.string() })) })

const CASES = [
  [undefined, ['Free', 'HR', 'Law', 'file.txt']],
  ['hr', ['HR', 'file.txt']],
  ['law', ['Law']],
  ['default', ['Free']],
  ['unknown', []],
] as const

const titlesOf = (hits: readonly { title?: string | undefined }[]) =>
  hits.map(({ title }) => title).toSorted()

it.each([
  ['hr', 'law'],
  ['default', 'law'],
])('A document in %s cannot say %s in its metadata', async (collection, named) => {
  const body = { text: 'Owls.', collection, metadata: { collection: named } }
  expect(await failureOf(await server.request('/documents', { body }))).toMatchObject({
    status: 400,
    code: 'invalid_request',
    param: 'collection',
  })
})

describe.each(CASES)('The collection %s', (collection, titles) => {
  const expected = titles.toSorted()

  it('is what a query searches', async () => {
    const response = await server.request('/query', { body: { query: 'owls', collection } })
    expect(titlesOf(QueryResponse.parse(await response.json()).hits)).toEqual(expected)
  })

  it('is what the list shows', async () => {
    const parameters = collection === undefined ? '' : `?collection=${collection}`
    expect(titlesOf((await listDocuments(server, parameters)).documents)).toEqual(expected)
  })

  it('is what an answer is made of', async () => {
    const messages = [{ role: 'user', content: 'Where do owls hunt?' }]
    const chat = await server.request('/chat', { body: { messages, collection } })
    const done = /event: done\ndata: (.*)/.exec(await chat.text())?.[1] ?? ''
    expect(titlesOf(JSON.parse(done).hits)).toEqual(expected)
    for (const request of [
      { collection },
      { model: collection === undefined ? 'agent' : `agent:${collection}` },
    ]) {
      const body = { messages, stream: false, ...request }
      const completion = await server.request('/v1/chat/completions', { body })
      const { agent } = Completion.parse(await completion.json())
      expect(titlesOf(agent?.hits ?? [])).toEqual(expected)
    }
  })
})

describe('Collections', () => {
  it('are listed with their numbers of documents, the default one first', async () => {
    const response = await server.request('/collections')
    expect(await response.json()).toEqual({
      collections: [
        { name: 'default', documents: 1 },
        { name: 'hr', documents: 2 },
        { name: 'law', documents: 1 },
      ],
    })
  })

  it('are models', async () => {
    const { data } = ModelList.parse(await (await server.request('/v1/models')).json())
    expect(data.map(({ id }) => id)).toEqual(['agent', 'agent:hr', 'agent:law', 'agent-plain'])
    expect((await server.request('/v1/models/agent:hr')).status).toBe(200)
    const failure = await failureOf(await server.request('/v1/models/agent:unknown'))
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  it('narrow a filter further', async () => {
    const filter = { field: 'collection', eq: 'law' }
    const body = { query: 'owls', collection: 'hr', filter }
    const response = await server.request('/query', { body })
    expect(QueryResponse.parse(await response.json()).hits).toEqual([])
  })

  it.each([
    ['default', { kept: true }],
    ['law', { kept: true, collection: 'law' }],
  ])('may be named twice, as %s', async (collection, expected) => {
    const named = { collection, metadata: { collection, kept: true } }
    const id = await server.ingest({ text: 'Larks sing.', ...named })
    const { metadata } = Document.parse(await (await server.request(`/documents/${id}`)).json())
    expect(metadata).toEqual(expected)
    await server.request(`/documents/${id}`, { method: 'DELETE' })
  })

  it.each([
    ['/query', { query: 'owls', collection: 'a b' }],
    ['/chat', { messages: [{ role: 'user', content: 'x' }], collection: '' }],
    ['/documents', { text: 'x', collection: '-x' }],
  ])('have names that %s holds to their bounds', async (path, body) => {
    const failure = await failureOf(await server.request(path, { body }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param: 'collection' })
  })
})

describe('a key with a small collection beside a hundred larger ones', onlyLong, () => {
  it('sees it as a model and as a store', async () => {
    const crowded = await startServer()
    const documents = Array.from({ length: 101 }, (_, place) => [
      { text: 'One owl.', collection: `large-${place}` },
      { text: 'Two owls.', collection: `large-${place}` },
    ]).flat()
    await crowded.request('/documents/batch', { body: documents })
    await crowded.ingest({ text: 'A wren.', collection: 'small' })
    const ready = () => crowded.request('/documents?status=ready&limit=1&total=true')
    const all = { total: documents.length + 1 }
    await expect.poll(async () => (await ready()).json(), { timeout: 20_000 }).toMatchObject(all)
    const key = { name: 'Small', scopes: ['query', 'chat'], collections: ['small', 'none'] }
    const created = await crowded.request('/admin/keys', { body: key })
    const request = requester(crowded.url, ApiKeyCreated.parse(await created.json()).secret)
    const idsAt = async (path: string) =>
      Listed.parse(await (await request(path)).json()).data.map(({ id }) => id)
    expect(await idsAt('/v1/models')).toEqual(['agent', 'agent:small', 'agent-plain'])
    expect((await request('/v1/models/agent:small')).status).toBe(200)
    expect(await (await request('/collections')).json()).toEqual({
      collections: [{ name: 'small', documents: 1 }],
    })
    expect(await idsAt('/v1/vector_stores')).toEqual(['corpus', 'vs_small'])
  })
})
