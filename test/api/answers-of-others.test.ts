import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { Conversation, ConversationItemList } from '../../src/dialects/conversations/schema.ts'
import { onlyLong } from '../support/long.ts'
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
async function put(name: string, text: string): Promise<string> {
  const response = await ada(`/documents/${name}?wait=20`, { method: 'PUT', body: { text } })
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

/** Ada asks in a conversation that Bob may read, and the model calls this tool. */
async function askWith(name: string, input: object): Promise<string> {
  const id = await startConversation(ada)
  await ada(`/v1/conversations/${id}`, { body: { access: ['user:bob'] } })
  upstream.script(toolCallReply({ name, arguments: input }), textReply('Done.'))
  await (await ask(ada, id)).text()
  return id
}
const outputFor = async (request: Request, id: string) =>
  (await answerIn(request, id))?.agent?.steps?.[0]?.output

const SALES = { title: 'sales.csv', text: 'region,amount\nnorth,1.50\nsouth,2.25\n' }
const CHART = { mark: 'bar', x: { field: 'region' }, y: { field: 'amount' }, width: 99, height: 99 }
const NOBODY = { field: 'name', equals: 'Nobody' }
const ROWS = [{ region: 'north', amount: 1.5 }]

describe('A file that a tool made', () => {
  it(
    'is for those with whom the conversation is shared while they may read what it was made from',
    onlyLong,
    async () => {
      const document = await add({ ...SALES, access: ['user:bob'] })
      const id = await askWith('make_chart', { ...CHART, sql: 'SELECT region, amount FROM sales' })

      const { link = '', url = '' } = (await fileIn(bob, id)) ?? {}
      expect(link).toContain('for=user%3Abob')
      expect((await fetch(server.url + link)).status).toBe(200)
      expect((await fetch(server.url + link.replace('bob', 'ada'))).status).toBe(401)
      expect((await bob(url)).status).toBe(404)

      await share(document, [])
      expect(await fileIn(bob, id)).toBeUndefined()
      expect((await fileIn(ada, id))?.link).toContain('for=user%3Aada')
      expect((await ada(url)).status).toBe(200)
    },
  )

  it('of rows that the model wrote is for whoever asked: nobody knows where they are from', async () => {
    const id = await askWith('make_chart', { ...CHART, rows: ROWS })
    expect((await fileIn(ada, id))?.link).toContain('for=user%3Aada')
    expect(await fileIn(bob, id)).toBeUndefined()
    expect(await outputFor(bob, id)).toMatch(/^Withheld/)
  })
})

describe('What a tool told of documents that it did not cite', () => {
  it.each([
    ['the fields of the metadata', 'lookup_data', {}],
    ['the columns of a table', 'lookup_data', { table: 'wages' }],
    ['the name of a table', 'lookup_data', { table: 'wages', conditions: [NOBODY] }],
    ['a value in an error', 'query_table', { sql: 'SELECT CAST(name AS INTEGER) FROM wages' }],
  ])('is not for others: %s', async (_what, tool, input) => {
    await add({
      title: 'wages.csv',
      text: 'name,codeword\nPlugh,frobozz\n',
      metadata: { codeword: 'frobozz' },
    })
    const id = await askWith(tool, input)
    expect(await outputFor(bob, id)).toMatch(/^Withheld/)
    expect(JSON.stringify(await answerIn(bob, id))).not.toMatch(/codeword|Plugh/)
  })

  it('is no number: find_text tells others what it shows, and not in how many it looked', async () => {
    const text = 'The yipyip barks.'
    const shown = await add({ title: 'Kennel', text, access: ['user:bob'] })
    const id = await askWith('find_text', { text: 'yipyip' })
    expect(await outputFor(ada, id)).toMatch(/^1 place in 1 of \d+ documents/)
    const seen = await outputFor(bob, id)
    expect(seen).toMatch(/^<passages>.*Kennel.*barks.*<\/passages>$/s)
    const { agent } = (await answerIn(bob, id)) ?? {}
    expect(agent).toMatchObject({ hits: [{ documentId: shown }] })
    expect(agent?.steps?.[0]?.input).toEqual({ text: 'yipyip' })
    expect(agent).not.toHaveProperty('usage')
    expect((await answerIn(ada, id))?.agent).toHaveProperty('usage')
  })

  it.each([
    ['in no document of many', 'find_text', () => ({ text: 'zyxwv' })],
    [
      'in one that they may not know',
      'find_text',
      (document: string) => ({ text: 'zyxwv', document }),
    ],
    ['behind the end of one', 'read_document', (document: string) => ({ document, start: 999 })],
  ])('is not that nothing is %s', async (_what, tool, input) => {
    const id = await askWith(tool, input(await put('plans-for-moonbase', 'Nothing here.')))
    expect(await outputFor(ada, id)).toMatch(/^(Not found in|The document has)/)
    expect(await outputFor(bob, id)).toMatch(/^Withheld/)
    expect(JSON.stringify(await answerIn(bob, id))).not.toContain('moonbase')
  })

  it('is not the id of a document, what it made the model write, or how much was read', async () => {
    const document = await put('hidden-quokka', 'The quokka smiles.')
    const id = await askWith('read_document', { document })
    expect(JSON.stringify(await answerIn(ada, id))).toContain('hidden-quokka')
    const answer = await answerIn(bob, id)
    expect(JSON.stringify(answer)).not.toMatch(/quokka|usage/)
    expect(answer?.agent?.hits).toMatchObject([{ id: 'withheld-1', documentId: '', text: '' }])
    expect(answer?.agent?.steps).toMatchObject([{ tool: 'read_document', input: {} }])
  })

  it('is nothing: find_text cites each document that it lists, shown or not', async () => {
    const documents = Array.from({ length: 30 }, async (_, n) =>
      add({ title: `Diary ${n + 1}.`, text: 'The grue sleeps.', access: ['user:bob'] }),
    )
    const ids = await Promise.all(documents)
    const id = await askWith('find_text', { text: 'grue' })
    const seen = (await outputFor(bob, id)) ?? ''
    const [, hiddenTitle = ''] = seen.match(/Diary \d+\./g)?.slice(23) ?? []
    expect(hiddenTitle).not.toBe('')
    await share(ids[Number(hiddenTitle.match(/\d+/)) - 1] ?? '', [])
    expect(await outputFor(bob, id)).toMatch(/^Withheld/)
    expect(JSON.stringify(await answerIn(bob, id))).not.toContain(hiddenTitle)
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
