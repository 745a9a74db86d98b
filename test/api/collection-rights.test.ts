import { Collection } from '@agent-server/schemas/collection.ts'
import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { speakingFor } from '../support/people.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const server = await startServer()
type Request = TestServer['request']

const ada = speakingFor(server, { name: 'ada' })
const mallory = speakingFor(server, { name: 'mallory' })
const master = server.request

let count = 0
const newName = () => `place${(count++).toString(36)}`

/** Requests with a key of the operator's, for a person if one is named. */
async function withKey(key: object, person?: string): Promise<Request> {
  const response = await master('/admin/keys', { body: { name: 'A program', ...key } })
  const { secret } = ApiKeyCreated.parse(await response.json())
  return (path, options = {}) =>
    master(path, {
      ...options,
      headers: {
        ...options.headers,
        authorization: `Bearer ${secret}`,
        ...(person !== undefined && { 'agent-user': person }),
      },
    })
}

const Made = z.object({ id: z.string() })

const create = (request: Request, body: object) => request('/collections', { body })
const patch = (request: Request, name: string, body: object) =>
  request(`/collections/${name}`, { method: 'PATCH', body })

async function add(request: Request, document: object = {}): Promise<string> {
  const response = await request('/documents?wait=20', { body: { text: 'A secret.', ...document } })
  const { id, status } = DocumentCreated.parse(await response.json())
  expect(status).toBe('ready')
  return id
}

const statusOf = async (request: Request, id: string) => (await request(`/documents/${id}`)).status

describe('The name of a collection', () => {
  it('is never that of the default one for a person', async () => {
    const id = await add(master)
    expect(await failureOf(await create(mallory, { name: 'default' }))).toMatchObject({
      status: 409,
      code: 'collection_exists',
    })
    const store = await mallory('/v1/vector_stores', { body: { name: 'default' } })
    expect(await store.json()).not.toMatchObject({ id: 'vs_default' })
    expect(await statusOf(mallory, id)).toBe(404)
    expect((await patch(mallory, 'default', { access: ['public'] })).status).toBe(403)
    const opened = await create(master, { name: 'default', access: ['user:zoe'] })
    expect(opened.status).toBe(201)
    expect((await master('/collections/default', { method: 'DELETE' })).status).toBe(409)
    await patch(master, 'default', { access: [] })
  })

  it('is kept for a key, whether or not anything is there', async () => {
    const [ofKey, ofDocument, patched, opened] = [newName(), newName(), newName(), newName()]
    const program = await withKey({ scopes: ['query', 'ingest'], collections: [ofKey] })
    await master(`/documents/${await add(master, { collection: ofDocument })}`, {
      method: 'DELETE',
    })
    const id = await add(master)
    const move = (collection: string | null) =>
      master(`/documents/${id}`, { method: 'PATCH', body: { metadata: { collection } } })
    await move(patched)
    await move(null)
    await create(master, { name: opened })
    await master(`/collections/${opened}`, { method: 'DELETE' })
    for (const name of [ofKey, ofDocument, patched, opened]) {
      expect(await failureOf(await create(mallory, { name }))).toMatchObject({ status: 409 })
      await mallory('/v1/vector_stores', { body: { name } })
      expect((await mallory(`/collections/${name}`)).status).toBe(404)
    }
    expect(await statusOf(mallory, await add(program))).toBe(404)
  })

  it('is kept for a watched folder that has no file yet', async () => {
    const folder = await temporaryDirectory()
    const watching = await startServer({ WATCH_FOLDERS: `from-disk=${folder}` })
    const response = await create(speakingFor(watching, { name: 'mallory' }), { name: 'from-disk' })
    expect(await failureOf(response)).toMatchObject({ status: 409 })
  })

  it('is free again for people once its owners delete it', async () => {
    const name = newName()
    await create(ada, { name })
    await ada(`/documents/${await add(ada, { collection: name })}`, { method: 'DELETE' })
    await ada(`/collections/${name}`, { method: 'DELETE' })
    expect((await create(mallory, { name })).status).toBe(201)
  })

  it('is one of its key’s if a program makes a collection for a person', async () => {
    const [inside, outside] = [newName(), newName()]
    const scopes = ['query', 'ingest', 'act-as']
    const program = await withKey({ scopes, collections: [inside] }, 'mallory')
    for (const path of ['/collections', '/v1/vector_stores']) {
      const response = await program(path, { body: { name: outside } })
      expect(await failureOf(response)).toMatchObject({ status: 403 })
    }
    expect((await mallory(`/collections/${outside}`)).status).toBe(404)
  })
})

describe('A document in a shared collection', () => {
  it('is no longer read and changed by whoever added it and has lost the collection', async () => {
    const name = newName()
    await create(ada, { name, contributors: ['user:mallory'] })
    const id = await add(mallory, { collection: name })
    expect(await statusOf(mallory, id)).toBe(200)
    await patch(ada, name, { contributors: [], access: ['user:mallory'] })
    const share = () =>
      mallory(`/documents/${id}`, { method: 'PATCH', body: { access: ['public'] } })
    expect(await statusOf(mallory, id)).toBe(200)
    expect((await share()).status).toBe(403)
    await patch(ada, name, { access: [] })
    const text = 'What the others have since written.'
    await ada(`/documents/${id}?wait=20`, { method: 'PUT', body: { text } })
    for (const path of ['', '/text', '/chunks']) {
      expect((await mallory(`/documents/${id}${path}`)).status).toBe(404)
    }
    expect((await share()).status).toBe(404)
    expect(await statusOf(ada, id)).toBe(200)
  })

  it('is read by nobody else once it is taken out of its vector store', async () => {
    const name = newName()
    const store = `vs_${name}`
    await create(master, { name: 'default', access: ['user:zoe'] })
    await patch(master, 'default', { access: ['user:zoe'] })
    await create(ada, { name, access: ['user:mallory'], contributors: ['user:bob'] })
    const bob = speakingFor(server, { name: 'bob' })
    const zoe = speakingFor(server, { name: 'zoe' })
    const readers = async (id: string) =>
      Promise.all([ada, bob, mallory, zoe].map(async (one) => (await statusOf(one, id)) === 200))
    const detached = await add(ada, { collection: name })
    const own = await add(bob, { collection: name })
    const named = await add(bob, { collection: name, access: ['user:zoe'] })
    const left = await add(ada, { collection: name })
    const ofKey = newName()
    const ofOperator = await add(master, { collection: ofKey })
    const detach = (request: Request, id: string, from = store) =>
      request(`/v1/vector_stores/${from}/files/${id}`, { method: 'DELETE' })
    expect((await detach(ada, detached)).status).toBe(200)
    expect((await detach(bob, own)).status).toBe(200)
    expect((await detach(bob, named)).status).toBe(200)
    expect((await detach(master, ofOperator, `vs_${ofKey}`)).status).toBe(200)
    const removed = await ada(`/v1/vector_stores/${store}`, { method: 'DELETE' })
    expect(removed.status).toBe(200)
    expect(await readers(detached)).toEqual([true, true, true, false])
    expect(await readers(own)).toEqual([false, true, false, false])
    expect(await readers(named)).toEqual([false, true, false, true])
    expect(await readers(left)).toEqual([true, true, true, false])
    expect(await readers(ofOperator)).toEqual([false, false, false, false])
    await patch(master, 'default', { access: [] })
  })

  it('is not given back to whoever lost it by being taken out', async () => {
    const name = newName()
    await create(ada, { name, contributors: ['user:mallory'] })
    const [moved, left] = [
      await add(mallory, { collection: name }),
      await add(mallory, { collection: name }),
    ]
    await patch(ada, name, { contributors: [] })
    await ada(`/documents/${moved}`, { method: 'PATCH', body: { metadata: { collection: null } } })
    await ada(`/v1/vector_stores/vs_${name}`, { method: 'DELETE' })
    for (const id of [moved, left]) {
      expect(await statusOf(mallory, id)).toBe(404)
      expect(await statusOf(ada, id)).toBe(200)
    }
  })

  it('stays with whoever keeps it to themselves when its collection goes', async () => {
    const name = newName()
    await create(ada, { name, contributors: ['user:mallory'] })
    const id = await add(mallory, { collection: name, access: [] })
    expect(await statusOf(ada, id)).toBe(404)
    expect((await ada(`/collections/${name}`, { method: 'DELETE' })).status).toBe(204)
    expect(await statusOf(mallory, id)).toBe(200)
    expect((await create(ada, { name })).status).toBe(409)
  })

  it('does not come there out of a conversation of whoever can no longer add to it', async () => {
    const name = newName()
    await create(ada, { name, contributors: ['user:mallory'] })
    const started = await mallory('/v1/conversations', { body: {} })
    const { id: conversation } = Conversation.parse(await started.json())
    const id = await add(mallory, { collection: name, conversation })
    const takeOut = (metadata?: object) =>
      mallory(`/documents/${id}`, { method: 'PATCH', body: { conversation: null, metadata } })
    await patch(ada, name, { contributors: [], access: ['user:mallory'] })
    expect(await failureOf(await takeOut())).toMatchObject({
      status: 403,
      code: 'collection_not_allowed',
    })
    expect(await statusOf(ada, id)).toBe(404)
    expect((await takeOut({ collection: null })).status).toBe(200)
    expect(await statusOf(ada, id)).toBe(404)
  })

  it('says who may read it only to whoever may still change that', async () => {
    const name = newName()
    await create(ada, { name, contributors: ['user:mallory'] })
    const id = await add(mallory, { collection: name, access: ['user:mallory', 'user:zoe'] })
    const read = async () => Document.parse(await (await mallory(`/documents/${id}`)).json())
    expect(await read()).toHaveProperty('access')
    await patch(ada, name, { contributors: [] })
    expect(await read()).not.toHaveProperty('access')
  })
})

describe('The lists of a collection', () => {
  it('are changed by keys that may administer, and by no others', async () => {
    const name = newName()
    await create(ada, { name })
    const program = await withKey({ scopes: ['query', 'ingest'] })
    const changes = [
      patch(program, name, { access: ['public'] }),
      program(`/collections/${name}`, { method: 'DELETE' }),
    ]
    for (const response of await Promise.all(changes)) {
      expect(await failureOf(response)).toMatchObject({ status: 403, code: 'insufficient_scope' })
    }
    expect((await mallory(`/collections/${name}`)).status).toBe(404)
    expect((await patch(master, name, { access: ['user:zoe'] })).status).toBe(200)
    expect((await create(program, { name: newName(), access: ['user:zoe'] })).status).toBe(201)
  })

  it('and who made it are shown to its owners alone', async () => {
    const name = newName()
    await create(ada, { name, access: ['user:mallory'] })
    const read = async (request: Request) =>
      Collection.parse(await (await request(`/collections/${name}`)).json())
    expect(await read(ada)).toMatchObject({ creator: 'user:ada' })
    const seen = await read(mallory)
    for (const field of ['creator', 'access', 'owners']) expect(seen).not.toHaveProperty(field)
  })
})

describe('One person', () => {
  it('cannot use up the collections of all', onlyLong, async () => {
    const greedy = speakingFor(server, { name: 'greedy' })
    const made = async () => (await create(greedy, { name: newName() })).status
    for (let i = 0; i < 200; i++) expect(await made()).toBe(201)
    const refused = await failureOf(await create(greedy, { name: newName() }))
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' })
    expect((await create(ada, { name: newName() })).status).toBe(201)
  })
})

it('A person who deletes a vector store no longer owns a collection, and others may have the name', async () => {
  const name = newName()
  const store = Made.parse(await (await ada('/v1/vector_stores', { body: { name } })).json()).id
  expect((await create(mallory, { name })).status).toBe(409)
  const document = await add(ada, { collection: name })
  expect((await ada(`/v1/vector_stores/${store}`, { method: 'DELETE' })).status).toBe(200)
  expect((await ada(`/collections/${name}`)).status).toBe(404)
  expect((await create(mallory, { name })).status).toBe(201)
  expect((await mallory(`/documents/${document}`)).status).toBe(404)
  expect((await ada(`/documents/${document}`)).status).toBe(200)
})
