import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { Conversation, ConversationItemList } from '../../src/dialects/conversations/schema.ts'
import { speakingFor } from '../support/people.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { chunk, DONE, textReply, toolCallReply } from '../support/upstream-replies.ts'

type Request = TestServer['request']

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const ada = speakingFor(server, { name: 'ada' })
const bob = speakingFor(server, { name: 'bob' })

async function add(document: object): Promise<string> {
  const response = await ada('/documents?wait=20', { body: document })
  return DocumentCreated.parse(await response.json()).id
}
const share = (id: string, access: readonly string[]) =>
  ada(`/documents/${id}`, { method: 'PATCH', body: { access } })

async function startConversation(request: Request): Promise<string> {
  const response = await request('/v1/conversations', { body: {} })
  return Conversation.parse(await response.json()).id
}
const ask = (request: Request, id: string) =>
  request('/chat', {
    body: { messages: [{ role: 'user', content: 'xyzzy?' }], conversation: { id } },
  })
async function answerIn(request: Request, id: string) {
  const response = await request(`/v1/conversations/${id}/items`)
  return ConversationItemList.parse(await response.json()).data.findLast(({ agent }) => agent)
}
const fileIn = async (request: Request, id: string) =>
  (await answerIn(request, id))?.agent?.artifacts?.[0]

describe('A file that a tool made', () => {
  it('is for those with whom the conversation is shared while they may read what it was made from', async () => {
    const sales = { title: 'sales.csv', text: 'region,amount\nnorth,1.50\nsouth,2.25\n' }
    const document = await add({ ...sales, access: ['user:bob'] })
    const chart = { title: 'Sales', mark: 'bar', x: { field: 'region' }, y: { field: 'amount' } }
    const input = { ...chart, sql: 'SELECT region, amount FROM sales', width: 200, height: 120 }
    const id = await startConversation(ada)
    upstream.script(toolCallReply({ name: 'make_chart', arguments: input }), textReply('Done.'))
    await (await ask(ada, id)).text()
    await ada(`/v1/conversations/${id}`, { body: { access: ['user:bob'] } })

    const { link = '', url = '' } = (await fileIn(bob, id)) ?? {}
    expect(link).toContain('for=user%3Abob')
    expect((await fetch(server.url + link)).status).toBe(200)
    expect((await fetch(server.url + link.replace('bob', 'ada'))).status).toBe(401)
    expect((await bob(url)).status).toBe(404)

    await share(document, [])
    expect(await fileIn(bob, id)).toBeUndefined()
    expect((await fileIn(ada, id))?.link).toContain('for=user%3Aada')
    expect((await ada(url)).status).toBe(200)
  })
})

describe('An answer that is still generated', () => {
  it('shows no words of a document that its reader may no longer read, until its end', async () => {
    const text = 'The vault opens at nine.'
    const document = await add({ title: 'Vault', text, access: ['user:bob'] })
    const id = await startConversation(bob)
    await bob(`/v1/conversations/${id}`, { body: { access: ['user:eve'] } })
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    upstream.script(toolCallReply({ name: 'read_document', arguments: { document } }), {
      headers: { 'content-type': 'text/event-stream' },
      steps: [{ until: isOver }, chunk({ content: 'Done.' }), chunk({}, 'stop'), DONE],
    })
    const arriving = upstream.nextRequest().then(() => upstream.nextRequest())
    const first = await ask(bob, id)
    await arriving
    const answer = await answerIn(bob, id)
    expect(answer).toMatchObject({ status: 'in_progress' })
    const eve = speakingFor(server, { name: 'eve' })
    await share(document, [])
    const following = await bob(
      `/v1/conversations/${id}/items/${answer?.id}/events?includeSteps=true`,
    )
    const polled = async () => JSON.stringify(await answerIn(eve, id))
    expect(await polled()).not.toContain(text)
    end()
    const [followed] = await Promise.all([following.text(), first.text()])
    expect(followed).toContain('read_document')
    expect(followed).toContain('"done"')
    expect(followed).not.toContain(text)
    expect(await polled()).not.toContain(text)
    await share(document, ['user:bob'])
    expect(JSON.stringify(await answerIn(bob, id))).toContain(text)
  })
})
