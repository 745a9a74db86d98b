import { Collection, CollectionList } from '@agent-server/schemas/collection.ts'
import { Document, DocumentCreated, DocumentList } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { failureOf } from '../support/failure.ts'
import { speakingFor } from '../support/people.ts'
import { startServer, type TestServer } from '../support/server.ts'

const server = await startServer()
type Request = TestServer['request']

const ada = speakingFor(server, { name: 'ada', groups: ['staff'] })
const bob = speakingFor(server, { name: 'bob', groups: ['staff', 'hr'] })
const eve = speakingFor(server, { name: 'eve' })
/** Whoever may administer sees everything, as the master key does. */
const master = server.request

let count = 0
/** A word that no other text has. */
const newWord = () => `word${(count++).toString(36)}x`

async function add(request: Request, document: object = {}) {
  const word = newWord()
  const body = { text: `The secret is ${word}.`, ...document }
  const response = await request('/documents?wait=20', { body })
  const { id, status } = DocumentCreated.parse(await response.json())
  expect(status).toBe('ready')
  return { id, word }
}

/** In how many ways somebody finds a document: all or none. */
async function sees(request: Request, { id, word }: { id: string; word: string }) {
  const one = await request(`/documents/${id}`)
  const text = await request(`/documents/${id}/text`)
  const list = await request('/documents?limit=100&total=true')
  const { documents } = DocumentList.parse(await list.json())
  const query = await request('/query', { body: { query: word } })
  const { hits } = QueryResponse.parse(await query.json())
  const ways = [
    one.status === 200,
    text.status === 200 && (await text.text()).includes(word),
    documents.some((each) => each.id === id),
    hits.some((hit) => hit.documentId === id),
  ]
  const [first = false] = ways
  expect(ways).toEqual(ways.map(() => first))
  return first
}

const whoSees = async (document: { id: string; word: string }) => ({
  ada: await sees(ada, document),
  bob: await sees(bob, document),
  eve: await sees(eve, document),
  master: await sees(master, document),
})

const share = (request: Request, id: string, access: unknown) =>
  request(`/documents/${id}`, { method: 'PATCH', body: { access } })

describe('A document', () => {
  it('is seen by whoever added it, and by others once it names them', async () => {
    const document = await add(ada)
    expect(await whoSees(document)).toEqual({ ada: true, bob: false, eve: false, master: true })
    expect((await share(ada, document.id, ['group:hr'])).status).toBe(200)
    expect(await whoSees(document)).toEqual({ ada: true, bob: true, eve: false, master: true })
    await share(ada, document.id, ['public', 'public'])
    expect(await whoSees(document)).toEqual({ ada: true, bob: true, eve: true, master: true })
    await share(ada, document.id, null)
    expect(await whoSees(document)).toEqual({ ada: true, bob: false, eve: false, master: true })
  })

  it('of an API key is seen by nobody else until it names them', async () => {
    const document = await add(master)
    expect(await whoSees(document)).toEqual({ ada: false, bob: false, eve: false, master: true })
    await share(master, document.id, ['user:eve', 'group:hr'])
    expect(await whoSees(document)).toEqual({ ada: false, bob: true, eve: true, master: true })
  })

  it.each([
    ['DELETE', '', undefined],
    ['PATCH', '', { metadata: { year: 1 } }],
    ['PATCH', '', { access: ['public'] }],
    ['POST', '/retry', undefined],
    ['POST', '/refresh', undefined],
  ])('is not changed by who may only read it: %s %s %j', async (method, path, body) => {
    const { id } = await add(ada, { access: ['user:bob'] })
    const change = (request: Request) => request(`/documents/${id}${path}`, { method, body })
    const refused = await failureOf(await change(bob))
    expect(refused).toMatchObject({ status: 403, code: 'not_permitted' })
    expect(refused.message).toContain('owners of its collection')
    const unseen = await failureOf(await change(eve))
    expect(unseen).toMatchObject({ status: 404, code: 'document_not_found' })
    expect((await master(`/documents/${id}`)).status).toBe(200)
  })

  it('says who may read it to whoever may change that', async () => {
    const { id } = await add(ada, { access: ['user:bob', 'group:hr'] })
    const read = async (request: Request) =>
      Document.parse(await (await request(`/documents/${id}`)).json())
    const rights = { access: ['group:hr', 'user:bob'], creator: 'user:ada' }
    expect(await read(ada)).toMatchObject(rights)
    expect(await read(master)).toMatchObject(rights)
    const seen = await read(bob)
    expect(seen).not.toHaveProperty('access')
    expect(seen).not.toHaveProperty('creator')
  })

  it('that is replaced keeps who may read it, unless the replacement says', async () => {
    const put = async (body: object) =>
      DocumentCreated.parse(
        await (await ada('/documents/mine?wait=20', { method: 'PUT', body })).json(),
      )
    const word = newWord()
    const { id } = await put({ text: `A ${word}.`, access: ['user:bob'] })
    expect(await sees(bob, { id, word })).toBe(true)
    const next = newWord()
    await put({ text: `A ${next}.` })
    expect(await sees(bob, { id, word: next })).toBe(true)
    const last = newWord()
    await put({ text: `A ${last}.`, access: ['user:eve'] })
    expect(await sees(bob, { id, word: last })).toBe(false)
    expect(await sees(eve, { id, word: last })).toBe(true)
  })

  it.each([
    [['somebody']],
    [['user:']],
    [['group: ']],
    ['public'],
    [Array.from({ length: 51 }, (_, i) => `user:${i}`)],
    [['user:a\u0000']],
  ])('is refused with a wrong list: %j', async (access) => {
    const response = await ada('/documents', { body: { text: 'A text.', access } })
    expect(await failureOf(response)).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})

describe('An id that a person chooses', () => {
  it('is theirs alone', async () => {
    const put = (request: Request, word: string) =>
      request('/documents/handbook?wait=20', { method: 'PUT', body: { text: word } })
    const words = [newWord(), newWord(), newWord()] as const
    for (const [i, request] of [ada, bob, master].entries()) {
      expect((await put(request, words[i] ?? '')).status).toBe(200)
    }
    for (const [i, request] of [ada, bob, master].entries()) {
      expect(await (await request('/documents/handbook/text')).text()).toBe(words[i])
    }
    expect((await eve('/documents/handbook')).status).toBe(404)
  })
})

describe('A collection', () => {
  it('gives its readers, contributors and owners what they may do', async () => {
    const body = { name: 'hr', access: ['group:staff'], contributors: ['group:hr'] }
    const created = await ada('/collections', { body })
    expect(created.status).toBe(201)
    expect(Collection.parse(await created.json())).toMatchObject({
      ...body,
      owners: ['user:ada'],
      role: 'owner',
      documents: 0,
    })
    const document = await add(bob, { collection: 'hr' })
    expect(await whoSees(document)).toEqual({ ada: true, bob: true, eve: false, master: true })
    for (const collection of ['hr', 'unknown']) {
      const refused = await failureOf(
        await eve('/documents', { body: { text: 'A text.', collection } }),
      )
      expect(refused).toMatchObject({ status: 403, code: 'collection_not_allowed' })
      expect(refused.message).not.toContain(collection)
    }
    const patch = (request: Request, change: object) =>
      request('/collections/hr', { method: 'PATCH', body: change })
    expect(await failureOf(await patch(bob, { access: [] }))).toMatchObject({
      code: 'not_permitted',
    })
    expect(await failureOf(await patch(eve, { access: [] }))).toMatchObject({
      code: 'collection_not_found',
    })
    expect((await patch(ada, { contributors: [], access: ['user:eve'] })).status).toBe(200)
    expect(await whoSees(document)).toEqual({ ada: true, bob: false, eve: true, master: true })
    expect(await failureOf(await patch(ada, { owners: [] }))).toMatchObject({ param: 'owners' })
    expect((await ada(`/documents/${document.id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await ada('/collections/hr', { method: 'DELETE' })).status).toBe(204)
    expect((await ada('/collections/hr')).status).toBe(404)
  })

  it('lists those that somebody may see, with what they see of it', async () => {
    const names = async (request: Request) => {
      const list = CollectionList.parse(await (await request('/collections')).json())
      return list.collections.map(({ name, documents, role }) => [name, documents, role])
    }
    await master('/collections', { body: { name: 'law', access: ['user:carl'] } })
    await add(master, { collection: 'law' })
    await add(master, { collection: 'law', access: ['user:dora'] })
    expect(await names(speakingFor(server, { name: 'carl' }))).toEqual([
      ['default', 0, 'contributor'],
      ['law', 1, 'reader'],
    ])
    expect(await names(speakingFor(server, { name: 'dora' }))).toEqual([
      ['default', 0, 'contributor'],
      ['law', 1, undefined],
    ])
    expect(await names(master)).toContainEqual(['law', 2, undefined])
  })

  it('is not taken over by who creates one of its name', async () => {
    await add(master, { collection: 'board' })
    const response = await eve('/collections', { body: { name: 'board' } })
    expect(await failureOf(response)).toMatchObject({ status: 409, code: 'collection_exists' })
    const patched = await eve('/collections/board', { method: 'PATCH', body: { access: [] } })
    expect(patched.status).toBe(404)
  })
})

describe('What was answered before', () => {
  const Made = z.looseObject({ id: z.string() })

  it('keeps its words, but not those of documents that its reader may not read any more', async () => {
    const { id, word } = await add(ada, { access: ['user:bob'] })
    const { id: conversation } = Made.parse(
      await (await bob('/v1/conversations', { body: {} })).json(),
    )
    const content = `What is the secret ${word}?`
    const messages = [{ role: 'user', content }]
    await (await bob('/chat', { body: { messages, conversation: { id: conversation } } })).text()
    const body = { input: content, stream: false, include: ['file_search_call.results'] }
    const response = Made.parse(await (await bob('/v1/responses', { body })).json())
    const read = async () => {
      const items = await (await bob(`/v1/conversations/${conversation}/items`)).text()
      const stored = await (await bob(`/v1/responses/${response.id}`)).text()
      return [items, stored].map((text) => text.split(`The secret is ${word}`).length - 1)
    }
    const before = await read()
    expect(Math.min(...before)).toBeGreaterThan(2)
    await share(ada, id, [])
    // The answer itself quotes the passage, and stays.
    expect(await read()).toEqual([1, 1])
    await share(ada, id, ['user:bob'])
    expect(await read()).toEqual(before)
  })
})
