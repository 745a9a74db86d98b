import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSqliteData } from '../../packages/stores/test/sqlite/store-data.ts'
import { AnswerRecord } from '../../src/conversations/answer-record.ts'
import {
  Conversation,
  ConversationItem,
  ConversationItemList,
  ConversationList,
} from '../../src/dialects/conversations/schema.ts'
import { type ReadChat, readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import {
  chunk,
  DONE,
  errorReply,
  hangReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const owls = await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 })

beforeEach(() => upstream.always(textReply('They do [1].')))

const create = async (on: Pick<TestServer, 'request'> = server, body: object = {}) =>
  Conversation.parse(await (await on.request('/v1/conversations', { body })).json()).id
const conversation = async (id: string) =>
  Conversation.parse(await (await server.request(`/v1/conversations/${id}`)).json())
const itemsOf = async (id: string, query = '?order=asc', on: TestServer = server) => {
  const response = await on.request(`/v1/conversations/${id}/items${query}`)
  return ConversationItemList.parse(await response.json()).data
}
const listed = async (query = '') => {
  const response = await server.request(`/v1/conversations${query}`)
  return ConversationList.parse(await response.json())
}
const post = (content: string, more: object, on: TestServer = server, signal?: AbortSignal) =>
  on.request('/chat', {
    body: { messages: [{ role: 'user', content }], ...more },
    ...(signal && { signal }),
  })
const ask = async (
  id: string,
  question: string,
  parent?: string | null,
): Promise<ReadChat & { question: string; answer: string; text: string }> => {
  const read = await readChat(await post(question, { conversation: { id, parent } }))
  const [first] = read.frames
  if (first?.frame.type !== 'turn-start') throw new Error('The turn does not start')
  const { questionId, answerId } = first.frame
  return { ...read, text: read.answer, question: questionId, answer: answerId }
}
const textOf = ({ content }: Record<string, unknown>) =>
  Array.isArray(content) ? content.map(({ text }) => text).join('') : content
const eventsOf = (id: string, item: string, on: TestServer = server) =>
  on.request(`/v1/conversations/${id}/items/${item}/events?includeSteps=true`)
/** The messages of the last request to the model, but for the server's rules. */
const told = () =>
  modelRequest(upstream.requests.at(-1)).messages.filter(({ role }) => role !== 'system')

describe('A stored conversation', () => {
  it('is listed in pages of 4 MB, and goes on though it is longer', async () => {
    const id = await create()
    const contentOf = (place: number) => `${place} ${'Owls hoot. '.repeat(90_000)}`
    for (const place of [0, 1, 2, 3, 4, 5]) {
      const role = place % 2 === 0 ? 'user' : 'assistant'
      const items = [{ type: 'message', role, content: contentOf(place) }]
      await server.request(`/v1/conversations/${id}/items`, { body: { items } })
    }
    expect(await itemsOf(id)).toHaveLength(4)
    const all = await Array.fromAsync(openai.conversations.items.list(id, { order: 'asc' }))
    expect(all.map((item) => JSON.stringify(item).match(/"text":"(\d)/)?.[1]).join('')).toBe(
      '012345',
    )

    await ask(id, 'Who hoots?')
    const next = upstream.nextRequest()
    await ask(id, 'Why?')
    expect(JSON.stringify(modelRequest(await next).messages)).toContain('Who hoots?')
  })

  it('goes on from its last question, however large, and by the instructions with which it begins', async () => {
    const id = await create()
    const add = (role: string, content: string | object[]) =>
      server.request(`/v1/conversations/${id}/items`, {
        body: { items: [{ type: 'message', role, content }] },
      })
    await add('developer', 'Answer in rhymes.')
    const picture = `data:image/png;base64,${Buffer.alloc(3_500_000, 'owl').toString('base64')}`
    const question = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: picture },
    ]
    expect((await add('user', question)).status).toBe(200)
    await add('assistant', 'A text on owls.')
    const next = upstream.nextRequest()
    const body = { model: 'agent', conversation: id, input: 'And who wrote it?' }
    await server.request('/v1/responses', { body })
    expect(JSON.stringify(await next).replaceAll(picture, '')).toMatch(
      /in rhymes.+What is this\?.+A text on owls.+And who wrote it/s,
    )
  })

  it('serves the package of OpenAI: items, metadata, deletion', async () => {
    const { id, created_at } = await openai.conversations.create({
      items: [{ type: 'message', role: 'user', content: 'When do owls hunt?' }],
      metadata: { topic: 'birds' },
    })
    expect(await openai.conversations.retrieve(id)).toMatchObject({
      object: 'conversation',
      created_at,
      metadata: { topic: 'birds' },
      title: 'When do owls hunt?',
    })
    await openai.conversations.update(id, { metadata: { topic: 'night' } })
    const added = await openai.conversations.items.create(id, {
      items: [{ type: 'message', role: 'assistant', content: 'At night.' }],
    })
    expect(added.data).toMatchObject([{ type: 'message', role: 'assistant' }])
    const items = await Array.fromAsync(openai.conversations.items.list(id, { limit: 1 }))
    expect(items.map(({ type }) => type)).toEqual(['message', 'message'])
    const [last] = items
    const item = last && 'id' in last ? String(last.id) : ''
    expect(await openai.conversations.items.retrieve(item, { conversation_id: id })).toMatchObject({
      content: [{ type: 'output_text', text: 'At night.' }],
    })
    await openai.conversations.items.delete(item, { conversation_id: id })
    expect(await openai.conversations.retrieve(id)).toMatchObject({ metadata: { topic: 'night' } })
    expect(await itemsOf(id)).toHaveLength(1)
    expect(await openai.conversations.delete(id)).toMatchObject({ id, deleted: true })
    await expect(openai.conversations.retrieve(id)).rejects.toThrow(NotFoundError)
    await expect(openai.conversations.items.list(id)).rejects.toThrow(NotFoundError)
  })

  it('is continued by responses, which add what was asked and answered', async () => {
    const id = await create()
    const model = 'agent'
    const first = await openai.responses.create({ model, input: 'Who?', conversation: id })
    expect(first.conversation).toEqual({ id })
    await openai.responses.create({ model, input: 'When?', conversation: { id }, store: false })
    expect(told().map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect((await itemsOf(id)).map(({ type, role }) => role ?? type)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    const both = { model, input: 'x', conversation: id, previous_response_id: first.id }
    await expect(openai.responses.create(both)).rejects.toThrow(BadRequestError)
    const unknown = { model, input: 'x', conversation: 'conv_unknown' }
    await expect(openai.responses.create(unknown)).rejects.toThrow(NotFoundError)
  })

  it('is listed, found by what was asked and answered, renamed, and belongs to its key', async () => {
    const id = await create()
    upstream.script(textReply('Yes, each of its own PATTERN.'))
    await ask(id, 'Do zebras have stripes?')
    expect((await listed('?search=own+pattern')).data).toMatchObject([{ id }])
    expect((await listed('?search=ZEBRAS')).data).toMatchObject([
      { id, title: 'Do zebras have stripes?' },
    ])
    await server.request(`/v1/conversations/${id}`, { body: { title: 'Horses' } })
    expect((await listed('?search=horses')).data).toMatchObject([{ id, title: 'Horses' }])
    const first = await listed('?limit=1')
    expect(first).toMatchObject({ has_more: true, first_id: id, last_id: id })
    expect((await listed(`?limit=1&after=${id}`)).data[0]?.id).not.toBe(id)
    const body = { name: 'Other', scopes: ['chat'] }
    const key = ApiKeyCreated.parse(await (await server.request('/admin/keys', { body })).json())
    const other = { request: requester(server.url, key.secret) }
    const own = await create(other)
    for (const [on, hidden] of [[other, id] as const, [server, own] as const]) {
      const failure = await failureOf(await on.request(`/v1/conversations/${hidden}`))
      expect([failure.status, failure.code]).toEqual([404, 'conversation_not_found'])
    }
    const { data } = ConversationList.parse(await (await other.request('/v1/conversations')).json())
    expect(data.map((each) => each.id)).toEqual([own])
  })
})

describe('A question of a stored conversation', () => {
  it('is stored with its answer, hits and title, and the next one follows it', async () => {
    const id = await create()
    const first = await ask(id, 'When do owls hunt?')
    expect(first.done).toMatchObject({ finishReason: 'stop', hits: [{ documentId: owls }] })
    await ask(id, 'And when do they sleep?')
    expect(told().map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(await itemsOf(id)).toMatchObject([
      { id: first.question, role: 'user', parent_id: null },
      {
        id: first.answer,
        role: 'assistant',
        status: 'completed',
        parent_id: first.question,
        agent: { finishReason: 'stop', hits: [{ documentId: owls }] },
      },
      { role: 'user', parent_id: first.answer },
      { role: 'assistant' },
    ])
    expect((await conversation(id)).title).toBe('When do owls hunt?')
  })

  it('asked again begins a branch; the other one can be chosen and goes on', async () => {
    upstream.always(textReply('Yes.'))
    const id = await create()
    const first = await ask(id, 'First?')
    const old = await ask(id, 'Second?')
    const fresh = await ask(id, 'Second, in other words?', first.answer)
    expect((await conversation(id)).last_item_id).toBe(fresh.answer)
    expect((await itemsOf(id, '?branches=true&order=asc')).map((item) => item.parent_id)).toEqual([
      null,
      first.question,
      first.answer,
      old.question,
      first.answer,
      fresh.question,
    ])
    await server.request(`/v1/conversations/${id}`, { body: { last_item_id: old.answer } })
    await ask(id, 'Third?')
    expect((await itemsOf(id)).map(textOf)).toEqual([
      'First?',
      'Yes.',
      'Second?',
      'Yes.',
      'Third?',
      'Yes.',
    ])
    await ask(id, 'Anew?', null)
    expect(await itemsOf(id)).toHaveLength(2)
  })

  it('whose answer failed is kept with the reason, but not sent as history', async () => {
    const id = await create()
    upstream.always(errorReply(400, 'Refused'))
    const { error, answer } = await ask(id, 'Broken?')
    expect(error?.code).toBe('upstream_refused')
    const items = await itemsOf(id)
    expect(items[1]).toMatchObject({ id: answer, status: 'incomplete', agent: { error } })
    upstream.always(textReply('Fine.'))
    await ask(id, 'Whole?')
    expect(told()).toHaveLength(1)
    expect(await itemsOf(id)).toHaveLength(4)
  })

  it('is refused before it is stored', async () => {
    const id = await create()
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ]
    for (const [body, field] of [
      [{ messages, conversation: { id } }, 'messages'],
      [
        { messages: messages.slice(2), conversation: { id, parent: 'msg_x' } },
        'conversation.parent',
      ],
      [
        { messages: [{ role: 'user', content: 'x'.repeat(1_000_001) }], conversation: { id } },
        'messages.0.content',
      ],
    ] as const) {
      const failure = await failureOf(await server.request('/chat', { body }))
      expect([failure.status, failure.param]).toEqual([400, field])
    }
    expect(await itemsOf(id)).toEqual([])
  })

  it('keeps the words of a partial answer that is stopped, with its hits', async () => {
    const id = await create()
    upstream.always(
      streamReply(chunk({ content: 'Half of it [1]. ' }), chunk({ content: 'And ' }), {
        hang: true,
      }),
    )
    const asked = post('Owls?', { conversation: { id } })
    const asking = readChat(await asked)
    await expect.poll(async () => (await itemsOf(id)).map(textOf)[1]).toContain('Half of it')
    const [, answer] = await itemsOf(id)
    expect(answer).toMatchObject({ status: 'in_progress', agent: { hits: [{ documentId: owls }] } })
    const stop = `/v1/conversations/${id}/items/${answer?.id}/cancel`
    const stopped = await server.request(stop, { method: 'POST' })
    expect(ConversationItem.parse(await stopped.json())).toMatchObject({
      status: 'incomplete',
      agent: { finishReason: 'cancelled', hits: [{ documentId: owls }] },
    })
    expect((await asking).done?.finishReason).toBe('cancelled')
    await expect.poll(() => upstream.requests.at(-1)?.disconnected).toBe(true)
    upstream.always(textReply('More.'))
    await ask(id, 'And?')
    expect(told()).toHaveLength(3)
  })
})

describe('An answer of a stored conversation', () => {
  it('goes on when its client leaves, and can be followed from its beginning by several', async () => {
    const id = await create()
    const rest = Promise.withResolvers<void>()
    const finish = [
      { until: rest.promise },
      chunk({ content: 'the rest.' }),
      chunk({}, 'stop'),
      DONE,
    ]
    upstream.always(streamReply(chunk({ content: 'The beginning, ' }), ...finish))
    const leaving = new AbortController()
    await post('Owls?', { conversation: { id } }, server, leaving.signal)
    leaving.abort()
    await expect.poll(async () => (await itemsOf(id)).length).toBe(2)
    const item = (await itemsOf(id))[1]?.id ?? ''
    const followers = await Promise.all([eventsOf(id, item), eventsOf(id, item)])
    rest.resolve()
    for (const response of followers) {
      const { answer, done } = await readChat(response)
      expect([answer, done?.finishReason]).toEqual(['The beginning, the rest.', 'stop'])
    }
    const later = await readChat(await eventsOf(id, item))
    expect([later.answer, later.done?.hits.length]).toEqual(['The beginning, the rest.', 1])
  })

  it('is stopped with its conversation', async () => {
    const id = await create()
    upstream.always(hangReply())
    const asking = readChat(await post('Owls?', { conversation: { id } }))
    await server.request(`/v1/conversations/${id}`, { method: 'DELETE' })
    expect((await asking).done?.finishReason).toBe('cancelled')
  })

  it('tells its tool steps again, to those who ask for them', async () => {
    const id = await create()
    const search = toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } })
    upstream.script(search, textReply('At night [1].'))
    const { answer, frames } = await ask(id, 'Owls?')
    expect(frames.some(({ frame }) => frame.type === 'tool-call')).toBe(false)
    const later = await readChat(await eventsOf(id, answer))
    expect(later.frames.map(({ frame }) => frame.type)).toEqual([
      'tool-call',
      'tool-result',
      'text-delta',
      'done',
    ])
    const plain = await readChat(
      await server.request(`/v1/conversations/${id}/items/${answer}/events`),
    )
    expect(plain.frames.map(({ frame }) => frame.type)).toEqual(['text-delta', 'done'])
    const unknown = await failureOf(await eventsOf(id, 'msg_unknown'))
    expect([unknown.status, unknown.code]).toEqual([404, 'item_not_found'])
  })

  it('is marked as interrupted when the server stops in the middle of it', async () => {
    const directory = await temporaryDirectory()
    const environment = modelAt(upstream, { DATA_DIR: directory, SHUTDOWN_GRACE: '0' })
    const first = await startServer(environment)
    const id = await create(first)
    upstream.always(streamReply(chunk({ content: 'Half.' }), { hang: true }))
    const leaving = new AbortController()
    await post('Owls?', { conversation: { id } }, first, leaving.signal)
    await expect
      .poll(async () => (await itemsOf(id, '?order=asc', first)).map(textOf)[1])
      .toBe('Half.')
    leaving.abort()
    await first.close()
    const second = await startServer(environment)
    const [, answer] = await itemsOf(id, '?order=asc', second)
    expect(answer).toMatchObject({ status: 'incomplete', agent: { finishReason: 'interrupted' } })
    const followed = await readChat(await eventsOf(id, answer?.id ?? '', second))
    expect([followed.answer, followed.done?.finishReason]).toEqual(['Half.', 'interrupted'])
  })
  it(
    'is marked as interrupted, too, when the server dies in the middle of it',
    onlyLong,
    async () => {
      const { directory, open } = await createSqliteData()
      const { conversations, close } = await open()
      const of = { id: 'conv_a', owner: undefined }
      const record = new AnswerRecord()
      record.take([{ type: 'text-delta', text: 'Half.' }])
      const answer = { id: 'msg_a', json: JSON.stringify(record.answer) }
      await conversations.create({ ...of, metadata: {} })
      await conversations.add(of, { items: [answer], isOpen: true })
      await close()
      const second = await startServer({ DATA_DIR: directory })
      // It may still be generated, by another server on the same database.
      expect(await itemsOf('conv_a', '', second)).toMatchObject([{ status: 'in_progress' }])
      const followed = await readChat(await eventsOf('conv_a', 'msg_a', second))
      expect([followed.answer, followed.done?.finishReason]).toEqual(['Half.', 'interrupted'])
      expect(await itemsOf('conv_a', '', second)).toMatchObject([{ status: 'incomplete' }])
    },
  )
})
