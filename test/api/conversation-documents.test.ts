import { Document, DocumentCreated, DocumentList } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

type Requests = Pick<TestServer, 'request'>

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const handbook = await server.ingest({ title: 'Handbook', text: 'Herons fish by day.' })

beforeEach(() => upstream.always(textReply('They do [1].')))

async function createKey(scopes: string[], collections?: string[]): Promise<Requests> {
  const response = await server.request('/admin/keys', {
    body: { name: 'a key', scopes, ...(collections && { collections }) },
  })
  return { request: requester(server.url, ApiKeyCreated.parse(await response.json()).secret) }
}

const converse = async (on: Requests = server) =>
  Conversation.parse(await (await on.request('/v1/conversations', { body: {} })).json()).id
const send = (conversation: string, text: string, on: Requests = server, more: object = {}) =>
  on.request('/documents?wait=20', { body: { title: 'Note', text, conversation, ...more } })
const add = async (conversation: string, text: string, on: Requests = server, more = {}) =>
  DocumentCreated.parse(await (await send(conversation, text, on, more)).json()).id
const listed = async (query = '', on: Requests = server) =>
  DocumentList.parse(await (await on.request(`/documents${query}`)).json()).documents
const found = async (query: string, on: Requests = server) =>
  QueryResponse.parse(await (await on.request('/query', { body: { query } })).json()).hits.map(
    ({ documentId }) => documentId,
  )
const ask = async (id: string | undefined, question: string, on: Requests = server) => {
  const body = {
    messages: [{ role: 'user', content: question }],
    ...(id !== undefined && { conversation: { id } }),
  }
  return readChat(await on.request('/chat', { body }))
}
const status = async (path: string, on: Requests = server) => (await on.request(path)).status

describe('A document of a conversation', () => {
  it('is found by the questions of its conversation, beside the corpus, and by no others', async () => {
    const [own, other] = [await converse(), await converse()]
    const id = await add(own, 'The secret heron nests on the third chimney.')
    const answer = await ask(own, 'Where does the heron nest, and when do herons fish?')
    const hits = answer.done?.hits.map(({ documentId }) => documentId)
    expect(hits).toEqual(expect.arrayContaining([id, handbook]))
    expect(JSON.stringify(answer.done?.hits)).not.toContain('~conversation')
    for (const elsewhere of [other, undefined]) {
      const { done } = await ask(elsewhere, 'On which chimney does the secret heron nest?')
      expect(done?.hits.map(({ documentId }) => documentId)).not.toContain(id)
    }
    expect(await found('secret heron chimney')).not.toContain(id)
  })

  it('is told to the model by name and id, also while it is not read', async () => {
    const own = await converse()
    const id = await add(own, 'Puffins dive.')
    await ask(own, 'What did I send?')
    const { messages } = modelRequest(upstream.requests.at(-1))
    expect(messages.at(-1)?.content).toContain(`- "Note" (id ${id})`)
    expect(messages[0]?.content).not.toContain('Note')
  })

  it('is read by tools in its conversation only', async () => {
    const [own, other] = [await converse(), await converse()]
    const id = await add(own, 'Puffins dive deep.')
    const readBy = async (conversation: string) => {
      upstream.script(toolCallReply({ name: 'read_document', arguments: { document: id } }))
      await ask(conversation, 'Read it.')
      return modelRequest(upstream.requests.at(-1)).messages.at(-1)?.content
    }
    expect(await readBy(own)).toContain('Puffins dive deep.')
    expect(await readBy(other)).toContain('there is no document')
  })

  it('stands in the list of its conversation, with it, and in no other list', async () => {
    const own = await converse()
    const id = await add(own, 'Terns dive.', server, { metadata: { year: 2026 } })
    const [document, ...others] = await listed(`?conversation=${own}`)
    expect(others).toEqual([])
    expect(document).toMatchObject({ id, conversation: own, metadata: { year: 2026 } })
    expect((await listed('?limit=100')).map((each) => each.id)).not.toContain(id)
    const filter = encodeURIComponent('{"field":"year","eq":2026}')
    expect(await listed(`?filter=${filter}`)).toEqual([])
    const wanted = `/documents?filter=${filter}&dryRun=true`
    const counted = await server.request(wanted, { method: 'DELETE' })
    expect(await counted.json()).toMatchObject({ matched: 0 })
  })

  it('stays in its conversation when it is replaced, and leaves it when it is kept', async () => {
    const own = await converse()
    const id = await add(own, 'Gulls steal chips.')
    const put = { method: 'PUT', body: { text: 'Gulls steal fish and chips.' } }
    await server.request(`/documents/${id}?wait=20`, put)
    expect(await found('gulls steal')).not.toContain(id)
    const patch = { method: 'PATCH', body: { conversation: null } }
    const kept = Document.parse(await (await server.request(`/documents/${id}`, patch)).json())
    expect(kept.conversation).toBeUndefined()
    expect(await found('gulls steal')).toContain(id)
    await server.request(`/v1/conversations/${own}`, { method: 'DELETE' })
    expect(await status(`/documents/${id}`)).toBe(200)
  })

  it('is deleted with its conversation', async () => {
    const own = await converse()
    const id = await add(own, 'Swifts sleep in the air.')
    expect(await status(`/documents/${id}`)).toBe(200)
    await server.request(`/v1/conversations/${own}`, { method: 'DELETE' })
    expect(await status(`/documents/${id}`)).toBe(404)
    expect(await status(`/documents?conversation=${own}`)).toBe(404)
  })
})

describe('Another key', async () => {
  const [mine, theirs] = [
    await createKey(['ingest', 'query', 'chat']),
    await createKey(['ingest', 'query', 'chat']),
  ]

  it('sees nothing of it, and cannot add to it', async () => {
    const own = await converse(mine)
    const id = await add(own, 'Kites soar.', mine)
    expect(await status(`/documents/${id}`, mine)).toBe(200)
    for (const other of [theirs, server]) {
      for (const part of ['', '/text', '/chunks', '/file']) {
        expect(await status(`/documents/${id}${part}`, other)).toBe(404)
      }
      expect(await status(`/documents?conversation=${own}`, other)).toBe(404)
      const sent = await send(own, 'Mine, too', other)
      expect(await failureOf(sent)).toMatchObject({ code: 'conversation_not_found' })
      const put = { method: 'PUT', body: { text: 'Taken over' } }
      expect((await other.request(`/documents/${id}`, put)).status).toBe(404)
      const patch = { method: 'PATCH', body: { conversation: null } }
      expect((await other.request(`/documents/${id}`, patch)).status).toBe(404)
      const gone = await other.request(`/documents/${id}`, { method: 'DELETE' })
      expect(gone.status).toBe(404)
    }
    expect(await (await mine.request(`/documents/${id}/text`)).text()).toBe('Kites soar.')
  })

  it('with collections puts it into one of these, and finds it there', async () => {
    const limited = await createKey(['ingest', 'query', 'chat'], ['birds'])
    const own = await converse(limited)
    const id = await add(own, 'Rails hide in reeds.', limited)
    const answer = await ask(own, 'Where do rails hide?', limited)
    expect(answer.done?.hits.map(({ documentId }) => documentId)).toEqual([id])
    expect(await listed('', limited)).toEqual([])
  })
})

it('Documents of a conversation that went with its key are deleted', async () => {
  const directory = await temporaryDirectory()
  const first = await startServer({ DATA_DIR: directory })
  const made = await first.request('/admin/keys', {
    body: { name: 'gone', scopes: ['ingest', 'query', 'chat'] },
  })
  const { id, secret } = ApiKeyCreated.parse(await made.json())
  const gone = { request: requester(first.url, secret) }
  await add(await converse(gone), 'Dodos are gone.', gone)
  await first.ingest({ text: 'Herons are not.' })
  await first.request(`/admin/keys/${id}`, { method: 'DELETE' })
  await first.close()
  const second = await startServer({ DATA_DIR: directory })
  const ready = async () => (await (await second.request('/metrics')).text()).split('\n')
  await expect.poll(ready).toContain('agent_server_documents{status="ready"} 1')
})

describe('What cannot be', () => {
  it.each([
    ['conversation', { text: 'x', conversation: 'conv_unknown' }, 404, 'conversation_not_found'],
    ['conversation', { text: 'x', conversation: '' }, 400, 'invalid_request'],
    [
      'metadata.~conversation',
      { text: 'x', metadata: { '~conversation': 'x' } },
      400,
      'invalid_request',
    ],
  ])('is refused with the field named: %s', async (param, body, code, name) => {
    const response = await server.request('/documents', { body })
    expect(response.status).toBe(code)
    expect(await failureOf(response)).toMatchObject({ code: name, param })
  })

  it('is refused: an id of one’s own, a filter by the field, another conversation', async () => {
    const own = await converse()
    const id = await add(own, 'Rooks gather.')
    const put = { method: 'PUT', body: { text: 'x', conversation: own } }
    expect((await server.request('/documents/mine', put)).status).toBe(400)
    const filter = { field: '~conversation', eq: own }
    expect((await server.request('/query', { body: { query: 'x', filter } })).status).toBe(400)
    const patch = { method: 'PATCH', body: { conversation: await converse() } }
    expect((await server.request(`/documents/${id}`, patch)).status).toBe(400)
  })

  it('is refused: more than twenty documents that are sent at once', async () => {
    const own = await converse()
    const sent = Array.from({ length: 24 }, (_, n) => send(own, `Text ${n}.`))
    const refused = (await Promise.all(sent)).filter(({ status }) => status >= 400)
    expect(refused).toHaveLength(4)
  })

  it('is refused: more than 100 MB, also in the place of less', onlyLong, async () => {
    const own = await converse()
    const upload = (path: string, method: string, fields: Record<string, string>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      form.append('file', new Blob([Buffer.alloc(60_000_000, 'Owls hoot. ')]), 'owls.txt')
      const headers = { authorization: `Bearer ${TEST_KEY}` }
      return fetch(`${server.url}${path}`, { method, headers, body: form })
    }
    const small = await add(own, 'Rooks gather.')
    expect((await upload('/documents', 'POST', { conversation: own })).status).toBe(202)
    const failure = await failureOf(await upload(`/documents/${small}`, 'PUT', {}))
    expect(failure).toMatchObject({ code: 'conversation_full', param: 'conversation' })
  })

  it('is refused: more than twenty documents', async () => {
    const own = await converse()
    for (let number = 0; number < 20; number++) await send(own, `Note ${number}`)
    const failure = await failureOf(await send(own, 'One more'))
    expect(failure).toMatchObject({ code: 'conversation_full', param: 'conversation' })
    expect(await listed(`?conversation=${own}&limit=100`)).toHaveLength(20)
  })
})
