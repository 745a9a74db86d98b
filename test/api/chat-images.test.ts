import { Capabilities } from '@agent-server/schemas/agent.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Conversation, ConversationItemList } from '../../src/dialects/conversations/schema.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { errorReply, textReply } from '../support/upstream-replies.ts'

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const QUESTION = { role: 'user', content: 'What is this?', images: [PIXEL] }
const AS_SENT = { type: 'image_url', image_url: { url: PIXEL } }

const upstream = await startScriptedUpstream()
upstream.always(textReply('A dot.'))
const server = await startServer(modelAt(upstream))

const chat = (on: TestServer, body: object) => on.request('/chat', { body })
const ModelRequest = z.object({ messages: z.array(z.object({ content: z.unknown() })) })
const sentLast = ({ requests }: ScriptedUpstream = upstream) =>
  ModelRequest.parse(requests.at(-1)?.body).messages
const takesImages = async (on: TestServer) =>
  Capabilities.parse(await (await on.request('/agent/capabilities')).json()).chat.images

describe('A picture in /chat', () => {
  it('reaches a model that takes images', async () => {
    expect(await takesImages(server)).toBe(true)
    await readChat(await chat(server, { messages: [QUESTION] }))
    expect(sentLast().at(-1)?.content).toContainEqual(AS_SENT)
  })

  it('stays in a stored conversation, for later questions and readers', async () => {
    const made = await server.request('/v1/conversations', { body: {} })
    const { id } = Conversation.parse(await made.json())
    const conversation = { id }
    await readChat(await chat(server, { messages: [QUESTION], conversation }))
    expect(sentLast().at(-1)?.content).toContainEqual(AS_SENT)
    const next = [{ role: 'user', content: 'What colour?' }]
    await readChat(await chat(server, { messages: next, conversation }))
    expect(sentLast().at(-3)?.content).toContainEqual(AS_SENT)
    const listed = await server.request(`/v1/conversations/${id}/items`)
    const { data } = ConversationItemList.parse(await listed.json())
    expect(data.at(-1)?.content).toEqual([
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: PIXEL },
    ])
  })

  it.each([
    ['messages.0.images.0', { images: ['https://example.org/a.png'] }],
    ['messages.0.images.0', { images: ['data:image/svg+xml;base64,PHN2Zz4='] }],
    ['messages.0.images.0', { images: ['data:image/png;base64,<script>'] }],
    ['messages.0.images', { images: Array(11).fill(PIXEL) }],
    ['messages.0.images', { role: 'system', images: [PIXEL] }],
  ])('is refused with the field named: %s, %j', async (param, wrong) => {
    const messages = [{ ...QUESTION, ...wrong }, QUESTION]
    const response = await chat(server, { messages })
    expect(response.status).toBe(400)
    expect(await failureOf(response)).toMatchObject({ code: 'invalid_request', param })
  })
})

describe('A model that takes no images', async () => {
  const extractive = await startServer()

  it('is known as such, and refuses a picture by name, storing nothing', async () => {
    expect(await takesImages(extractive)).toBe(false)
    const made = await extractive.request('/v1/conversations', { body: {} })
    const { id } = Conversation.parse(await made.json())
    for (const more of [{}, { conversation: { id } }]) {
      const response = await chat(extractive, { messages: [QUESTION], ...more })
      expect(response.status).toBe(400)
      const { param, message } = await failureOf(response)
      expect(param).toBe('messages.0.images')
      expect(message).toContain('the chat model "extractive" does not accept images')
    }
    const listed = await extractive.request(`/v1/conversations/${id}/items`)
    expect(ConversationItemList.parse(await listed.json()).data).toEqual([])
  })

  it('is named in a header of the other protocols', async () => {
    const content = [{ type: 'text', text: 'What is this?' }, AS_SENT]
    const body = { stream: false, messages: [{ role: 'user', content }] }
    const response = await extractive.request('/v1/chat/completions', { body })
    expect(response.headers.get('warnings')).toBe('ignored by the model: images')
  })

  it('is known once its server has refused a picture, and says so in its answer', async () => {
    const other = await startScriptedUpstream()
    other.script(errorReply(400, 'This model does not support image input'), textReply('I cannot.'))
    const blind = await startServer(modelAt(other))
    await readChat(await chat(blind, { messages: [QUESTION] }))
    expect(sentLast(other).at(-1)?.content).toContain('cannot see')
    expect(await takesImages(blind)).toBe(false)
    expect((await chat(blind, { messages: [QUESTION] })).status).toBe(400)
    await other.close()
  })
})
