import { Feedback, FeedbackList } from '@agent-server/schemas/feedback.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { ResponseObject } from '../../src/dialects/responses/response-schema.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, type TestServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const owls = await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })

beforeEach(() => upstream.always(textReply('They hunt at night [1].')))

type Asking = Pick<TestServer, 'request'>

async function asKey(): Promise<Asking> {
  const body = { name: 'Other', scopes: ['chat'] }
  const key = ApiKeyCreated.parse(await (await server.request('/admin/keys', { body })).json())
  return { request: requester(server.url, key.secret) }
}

async function answer(question: string, on: Asking = server, conversationId?: string) {
  const create = async () =>
    Conversation.parse(await (await on.request('/v1/conversations', { body: {} })).json()).id
  const id = conversationId ?? (await create())
  const messages = [{ role: 'user', content: question }]
  const { frames } = await readChat(
    await on.request('/chat', { body: { messages, conversation: { id } } }),
  )
  const [first] = frames
  if (first?.frame.type !== 'turn-start') throw new Error('The turn does not start')
  const { answerId, questionId } = first.frame
  return { conversationId: id, answerId, questionId }
}
const post = (body: object, on: Asking = server) => on.request('/feedback', { body })
const rate = async (body: object, on?: Asking) =>
  Feedback.parse(await (await post(body, on)).json())
const listed = async (query = '', on: Asking = server) =>
  FeedbackList.parse(await (await on.request(`/feedback${query}`)).json())
const exported = async (query = '', on: Asking = server) => {
  const response = await on.request(`/feedback/export${query}`)
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  const lines = (await response.text()).split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => Feedback.parse(JSON.parse(line)))
}

describe('Feedback', () => {
  it('rates an answer with what was asked, said and cited; a second rating replaces the first', async () => {
    const on = await asKey()
    const { conversationId, answerId } = await answer('When do owls hunt?', on)
    const first = await rate({ conversationId, answerId, rating: 'up' }, on)
    const { comment, ...rest } = await rate(
      { conversationId, answerId, rating: 'down', comment: ' Not all of them. ' },
      on,
    )
    expect(comment).toBe('Not all of them.')
    expect(rest).toMatchObject({
      id: first.id,
      conversationId,
      answerId,
      rating: 'down',
      question: 'When do owls hunt?',
      answer: 'They hunt at night [1].',
      documentIds: [owls],
      createdAt: first.createdAt,
    })
    expect(await listed('', on)).toEqual({ feedback: [{ comment, ...rest }] })
    expect(await listed('?rating=up', on)).toEqual({ feedback: [] })
  })

  it('belongs to the key, and goes with its conversation or by itself', async () => {
    const [on, other] = [await asKey(), await asKey()]
    const one = await answer('One?', on)
    const two = await answer('Two?', on, one.conversationId)
    const first = await rate({ ...one, rating: 'up' }, on)
    await rate({ ...two, rating: 'down' }, on)
    expect((await listed('', other)).feedback).toEqual([])
    const foreign = await post({ ...one, rating: 'up' }, other)
    expect(await failureOf(foreign)).toMatchObject({ status: 404, code: 'item_not_found' })
    const path = `/feedback/${first.id}`
    expect((await other.request(path, { method: 'DELETE' })).status).toBe(404)
    expect((await on.request(path, { method: 'DELETE' })).status).toBe(204)
    expect((await listed('', on)).feedback).toMatchObject([{ question: 'Two?' }])
    await on.request(`/v1/conversations/${one.conversationId}`, { method: 'DELETE' })
    expect((await listed('', on)).feedback).toEqual([])
  })

  it('is listed page by page, and exported whole as lines', async () => {
    const on = await asKey()
    const first = await answer('Question 0?', on)
    await rate({ ...first, rating: 'up' }, on)
    for (let n = 1; n < 22; n += 1) {
      const next = await answer(`Question ${n}?`, on, first.conversationId)
      await rate({ ...next, rating: n % 2 === 0 ? 'up' : 'down' }, on)
    }
    const questions = Array.from({ length: 22 }, (_, n) => `Question ${21 - n}?`)
    const page = await listed('?limit=21', on)
    const next = await listed(`?limit=21&cursor=${page.nextCursor}`, on)
    expect([...page.feedback, ...next.feedback].map(({ question }) => question)).toEqual(questions)
    expect(next.nextCursor).toBeUndefined()
    expect((await exported('', on)).map(({ question }) => question)).toEqual(questions)
    expect(await exported('?rating=up', on)).toHaveLength(11)
    expect(await exported('', await asKey())).toEqual([])
  })

  it('rates a stored response, and is deleted with it', async () => {
    const on = await asKey()
    const input = [{ role: 'user', content: 'When do owls hunt?' }]
    const asked = await on.request('/v1/responses', { body: { model: 'agent', input } })
    const { id: answerId } = ResponseObject.parse(await asked.json())
    const said = { question: 'When do owls hunt?', documentIds: [owls] }
    expect(await rate({ answerId, rating: 'up' }, on)).toMatchObject({ answerId, ...said })
    const [kept] = (await listed('', on)).feedback
    expect(kept).toMatchObject({ ...said, answer: expect.stringContaining('at night') })
    expect(kept?.conversationId).toBeUndefined()
    await on.request(`/v1/responses/${answerId}`, { method: 'DELETE' })
    expect((await listed('', on)).feedback).toEqual([])
  })

  it('finds the question of a response in a conversation', async () => {
    const created = await server.request('/v1/conversations', { body: {} })
    const { id: conversationId } = Conversation.parse(await created.json())
    const tools = [{ type: 'file_search', vector_store_ids: ['corpus'] }]
    const body = { model: 'agent', input: 'Who hunts?', conversation: conversationId, tools }
    const { output } = ResponseObject.parse(
      await (await server.request('/v1/responses', { body })).json(),
    )
    expect(output.length).toBeGreaterThan(1)
    const answerId = output.find(({ type }) => type === 'message')?.id
    expect(await rate({ conversationId, answerId, rating: 'up' })).toMatchObject({
      question: 'Who hunts?',
      documentIds: [owls],
    })
  })

  it('is refused for what is no answer, naming the field', async () => {
    const { conversationId, answerId, questionId } = await answer('When?')
    const good = { conversationId, answerId, rating: 'up' }
    for (const [more, status, param] of [
      [{ rating: 'sideways' }, 400, 'rating'],
      [{ comment: 'x'.repeat(2_001) }, 400, 'comment'],
      [{ answerId: questionId }, 404, 'answerId'],
      [{ answerId: 'unknown' }, 404, 'answerId'],
      [{ conversationId: 'unknown' }, 404, 'answerId'],
      [{ conversationId: null, answerId: 'unknown' }, 404, 'id'],
    ] as const) {
      expect(await failureOf(await post({ ...good, ...more }))).toMatchObject({ status, param })
    }
  })
})
