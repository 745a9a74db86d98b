import { describe, expect, it, onTestFinished } from 'vitest'
import {
  Conversation,
  ConversationItem,
  ConversationItemList,
} from '../../../src/dialects/conversations/schema.ts'
import { readChat } from '../../support/chat-reader.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../../support/server.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { chunk, DONE, streamReply } from '../../support/upstream-replies.ts'
import { createPostgresData, hasPostgres, SERVER_URL } from './store-data.ts'

describe.skipIf(!hasPostgres)('An answer that another server generates (needs PostgreSQL)', () => {
  it('is followed to its end, and stopped', async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const upstream = await startScriptedUpstream()
    const qdrant = await startFakeQdrant()
    const environment = modelAt(upstream, { DATABASE_URL: data.url, QDRANT_URL: qdrant.url })
    const [one, other] = [await startServer(environment), await startServer(environment)]
    const created = await one.request('/v1/conversations', { body: {} })
    const { id } = Conversation.parse(await created.json())
    const ask = (question: string) =>
      one.request('/chat', {
        body: { messages: [{ role: 'user', content: question }], conversation: { id } },
      })
    const lastOn = async (server: TestServer) => {
      const items = await server.request(`/v1/conversations/${id}/items?limit=1`)
      return ConversationItemList.parse(await items.json()).data[0]
    }
    const onOther = (item: string, action: string, method = 'GET') =>
      other.request(`/v1/conversations/${id}/items/${item}/${action}`, { method })

    const rest = Promise.withResolvers<void>()
    const end = [{ until: rest.promise }, chunk({ content: 'the rest.' }), chunk({}, 'stop'), DONE]
    upstream.always(streamReply(chunk({ content: 'The beginning, ' }), ...end))
    const asking = readChat(await ask('First?'))
    await expect.poll(async () => JSON.stringify(await lastOn(other))).toContain('The beginning')
    const first = (await lastOn(other))?.id ?? ''
    const following = readChat(await onOther(first, 'events'))
    rest.resolve()
    for (const { answer, done } of await Promise.all([asking, following])) {
      expect([answer, done?.finishReason]).toEqual(['The beginning, the rest.', 'stop'])
    }

    upstream.always(streamReply(chunk({ content: 'Half.' }), { hang: true }))
    const stopping = readChat(await ask('Second?'))
    await expect.poll(async () => JSON.stringify(await lastOn(other))).toContain('Half.')
    const second = (await lastOn(other))?.id ?? ''
    const stopped = ConversationItem.parse(await (await onOther(second, 'cancel', 'POST')).json())
    expect(stopped).toMatchObject({ status: 'incomplete', agent: { finishReason: 'cancelled' } })
    expect((await stopping).done?.finishReason).toBe('cancelled')
  })

  it('and that ends while the database is away is stored when it is back', async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const { hostname: host, port } = new URL(SERVER_URL)
    const proxy = await startTcpProxy({ host, port: Number(port) })
    const upstream = await startScriptedUpstream()
    const qdrant = await startFakeQdrant()
    const environment = modelAt(upstream, { QDRANT_URL: qdrant.url })
    const near = Object.assign(new URL(data.url), { port: String(proxy.port) })
    const one = await startServer({ ...environment, DATABASE_URL: near.href })
    const other = await startServer({ ...environment, DATABASE_URL: data.url })
    const created = await one.request('/v1/conversations', { body: {} })
    const { id } = Conversation.parse(await created.json())
    const rest = Promise.withResolvers<void>()
    const end = [{ until: rest.promise }, chunk({ content: 'the rest.' }), chunk({}, 'stop'), DONE]
    upstream.always(streamReply(chunk({ content: 'The beginning, ' }), ...end))
    const messages = [{ role: 'user', content: 'Owls?' }]
    const asked = await one.request('/chat', { body: { messages, conversation: { id } } })
    proxy.set('cut')
    rest.resolve()
    // Whoever asked is told at once.
    const { answer, done } = await readChat(asked)
    expect([answer, done?.finishReason]).toEqual(['The beginning, the rest.', 'stop'])
    proxy.set('pass')
    const stored = async () => {
      const items = await other.request(`/v1/conversations/${id}/items?limit=1`)
      return ConversationItemList.parse(await items.json()).data[0]
    }
    await expect.poll(stored, { timeout: 20_000 }).toMatchObject({
      status: 'completed',
      content: [{ text: 'The beginning, the rest.' }],
      agent: { finishReason: 'stop' },
    })
  })
})
