import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import {
  Conversation,
  ConversationItemList,
  ConversationList,
} from '../../src/dialects/conversations/schema.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { speakingFor } from '../support/people.ts'
import { startServer, type TestServer } from '../support/server.ts'

type Request = TestServer['request']

const server = await startServer()
const ada = speakingFor(server, { name: 'ada', groups: ['sales'] })
const bob = speakingFor(server, { name: 'bob', groups: ['sales'] })
const eve = speakingFor(server, { name: 'eve' })

const conversationOf = async (response: Response) => Conversation.parse(await response.json())
const textOf = async (request: Request, id: string) =>
  (await request(`/v1/conversations/${id}/items`)).text()

/** A conversation of Ada's, with an answer that cites a document of hers. */
async function conversationAbout(word: string, access: object = {}) {
  const document = { title: `About ${word}`, text: `The ${word} opens at nine.`, ...access }
  const added = await ada('/documents?wait=20', { body: document })
  const { id: documentId } = DocumentCreated.parse(await added.json())
  const { id } = await conversationOf(await ada('/v1/conversations', { body: {} }))
  const messages = [{ role: 'user', content: `When does the ${word} open?` }]
  const { done } = await readChat(await ada('/chat', { body: { messages, conversation: { id } } }))
  expect(done?.hits[0]?.documentId).toBe(documentId)
  return { id, documentId }
}
const share = (request: Request, id: string, access: readonly string[]) =>
  request(`/v1/conversations/${id}`, { body: { access } })

describe('A conversation that its owner shares', () => {
  it('is read by those who are named, until they are not', async () => {
    const { id } = await conversationAbout('attic')
    expect((await failureOf(await bob(`/v1/conversations/${id}`))).status).toBe(404)
    expect(await conversationOf(await share(ada, id, ['group:sales']))).toMatchObject({
      access: ['group:sales'],
    })
    const seen = await conversationOf(await bob(`/v1/conversations/${id}`))
    expect(seen).toMatchObject({ id, shared: true, metadata: {} })
    expect(seen).not.toHaveProperty('access')
    expect(await textOf(bob, id)).toContain('opens at nine')
    expect((await failureOf(await eve(`/v1/conversations/${id}`))).code).toBe(
      'conversation_not_found',
    )
    await share(ada, id, [])
    expect((await bob(`/v1/conversations/${id}/items`)).status).toBe(404)
  })

  it('shows no words of documents that the reader may not read, beside the answer', async () => {
    const { id, documentId } = await conversationAbout('vault')
    await share(ada, id, ['user:bob'])
    const list = await (await bob(`/v1/conversations/${id}/items`)).json()
    const answer = ConversationItemList.parse(list).data.find(({ agent }) => agent)
    const hits = answer?.agent?.hits ?? []
    expect(hits.length).toBeGreaterThan(0)
    expect(hits.map(({ documentId }) => documentId)).not.toContain(documentId)
    expect(hits.every(({ text, title }) => text === '' && title === '')).toBe(true)
    expect(JSON.stringify(answer?.agent?.citations)).not.toContain('nine')
    await ada(`/documents/${documentId}`, { method: 'PATCH', body: { access: ['user:bob'] } })
    expect(await textOf(bob, id)).toContain('About vault')
  })

  it('shows nothing of what the Responses API has read for it, but what was said', async () => {
    const { documentId } = await conversationAbout('cellar')
    const { id } = await conversationOf(await ada('/v1/conversations', { body: {} }))
    const body = {
      model: 'agent',
      conversation: id,
      input: 'When does the cellar open?',
      include: ['file_search_call.results'],
    }
    expect((await ada('/v1/responses', { body })).status).toBe(200)
    await share(ada, id, ['user:bob'])
    expect(await textOf(ada, id)).toContain(documentId)
    const seen = await textOf(bob, id)
    expect(seen).toContain('When does the cellar open?')
    expect(seen).not.toContain(documentId)
    expect(seen).not.toContain('About cellar')
    const { data } = ConversationItemList.parse(JSON.parse(seen))
    const searches = data.filter(({ type }) => type === 'file_search_call')
    expect(searches).toEqual([
      {
        id: expect.any(String),
        parent_id: expect.any(String),
        type: 'file_search_call',
        status: 'completed',
      },
    ])
    const each = await Array.fromAsync(data, ({ id: item }) =>
      bob(`/v1/conversations/${id}/items/${item}`).then(({ status }) => status),
    )
    expect(each.every((status) => status === 200)).toBe(true)
  })

  it.each([
    ['change it', (id: string) => share(bob, id, ['public'])],
    ['delete it', (id: string) => bob(`/v1/conversations/${id}`, { method: 'DELETE' })],
    [
      'add to it',
      (id: string) =>
        bob(`/v1/conversations/${id}/items`, {
          body: { items: [{ role: 'user', content: 'And on Sundays?' }] },
        }),
    ],
    [
      'ask in it',
      (id: string) =>
        bob('/chat', {
          body: { messages: [{ role: 'user', content: 'And then?' }], conversation: { id } },
        }),
    ],
  ])('can be read only: nobody else may %s', async (_case, attempt) => {
    const { id } = await conversationOf(await ada('/v1/conversations', { body: {} }))
    await share(ada, id, ['user:bob'])
    const before = await textOf(ada, id)
    expect((await failureOf(await attempt(id))).code).toBe('conversation_not_found')
    expect(await textOf(ada, id)).toBe(before)
    expect((await ada(`/v1/conversations/${id}`)).status).toBe(200)
  })

  it('is not in the lists of others', async () => {
    const { id } = await conversationOf(await ada('/v1/conversations', { body: {} }))
    await share(ada, id, ['user:bob'])
    expect(await (await bob('/v1/conversations')).text()).not.toContain(id)
  })

  it('is in the list of what others share with a reader, by name or group, page by page', async () => {
    const dan = speakingFor(server, { name: 'dan', groups: ['Ops', 'a"b'] })
    const make = async (title: string, access: readonly string[]) => {
      const created = await ada('/v1/conversations', { body: { title, metadata: { a: 'b' } } })
      const { id } = await conversationOf(created)
      await share(ada, id, access)
      return id
    }
    const ids = [
      await make('By name', ['group:none', 'user:dan']),
      await make('By group', ['group:Ops']),
      await make('By a strange group', ['group:a"b']),
    ]
    for (const other of ['user:dan2', 'group:ops', 'user:da', 'group:x"user:dan"y', 'group:a']) {
      await make('For others', [other])
    }
    const read = async (query = '') => {
      const path = `/v1/conversations?shared=true&limit=2${query}`
      return ConversationList.parse(await (await dan(path)).json())
    }
    const first = await read()
    const second = await read(`&after=${first.last_id}`)
    const all = [...first.data, ...second.data]
    expect(all.map(({ id }) => id)).toEqual(ids.toReversed())
    expect(all[0]).toMatchObject({ shared: true, metadata: {} })
    expect(all[0]).not.toHaveProperty('access')
    expect((await read('&search=by+name')).data.map(({ title }) => title)).toEqual(['By name'])
    expect((await failureOf(await dan('/v1/conversations?shared=true&after=conv_x'))).status).toBe(
      400,
    )
    const own = await (await ada('/v1/conversations?shared=true')).text()
    expect(own).not.toContain('By name')
    const asKey = await (await server.request('/v1/conversations?shared=true')).text()
    expect(asKey).not.toContain('By name')
  })
})
