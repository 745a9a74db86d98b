import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { Run, RunList } from '@agent-server/schemas/operator/run.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { errorReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const owls = await server.ingest({ title: 'Owls', text: '# Night\n\nOwls hunt at night.' })

beforeEach(() => upstream.always(textReply('They hunt at night [1].')))

const ask = async (content: string, more: object = {}, on: TestServer = server) =>
  readChat(await on.request('/chat', { body: { messages: [{ role: 'user', content }], ...more } }))
const listed = async (query = '', on: TestServer = server) =>
  RunList.parse(await (await on.request(`/admin/runs${query}`)).json()).runs
const runOf = async (id = '', on: TestServer = server) =>
  Run.parse(await (await on.request(`/admin/runs/${id}`)).json())
const last = async (on: TestServer = server) => runOf((await listed('', on))[0]?.id, on)

describe('A run of the agent', () => {
  it('is kept with its searches, prompts, tool calls and times', async () => {
    const search = { name: 'semantic_search', arguments: { query: 'owls' } }
    upstream.script(toolCallReply(search), textReply('They hunt at night [1].'))
    const { frames } = await ask('When do owls hunt?')
    expect(JSON.stringify(frames)).not.toContain('"stages"')
    const run = await last()
    expect(run).toMatchObject({
      outcome: 'stop',
      question: 'When do owls hunt?',
      searches: [
        {
          query: 'When do owls hunt?',
          hits: [
            {
              documentId: owls,
              title: 'Owls',
              heading: 'Night',
              stages: { lexical: expect.any(Number) },
            },
          ],
        },
        { query: 'owls', hits: [{ documentId: owls, stages: { lexical: expect.any(Number) } }] },
      ],
      toolCalls: [
        {
          tool: 'semantic_search',
          input: '{"query":"owls"}',
          output: expect.stringContaining('Owls hunt at night.'),
          isError: false,
          milliseconds: expect.any(Number),
        },
      ],
    })
    expect(run.error).toBeUndefined()
    const [first, second] = run.modelCalls
    expect(first).toMatchObject({
      same: 0,
      milliseconds: expect.any(Number),
      finishReason: 'tool_calls',
    })
    expect(first?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(first?.messages.at(-1)?.content).toContain('Owls hunt at night.')
    expect(first?.tools).toContain('semantic_search')
    // What was sent before is not kept twice.
    expect(second).toMatchObject({
      same: 4,
      messages: [
        { role: 'assistant', calls: [{ name: 'semantic_search', arguments: '{"query":"owls"}' }] },
        { role: 'tool' },
      ],
      answer: 'They hunt at night [1].',
      finishReason: 'stop',
    })
  })

  it('is found by the answer in a stored conversation', async () => {
    const created = await server.request('/v1/conversations', { body: {} })
    const { id } = Conversation.parse(await created.json())
    const { frames } = await ask('When?', { conversation: { id } })
    const [start] = frames.flatMap(({ frame }) => (frame.type === 'turn-start' ? frame : []))
    const [found, ...others] = await listed(`?answerId=${start?.answerId}`)
    expect(found).toMatchObject({ conversationId: id, question: 'When?', outcome: 'stop' })
    expect(others).toEqual([])
  })

  it('names the stored conversation, also over Responses, and no other', async () => {
    const created = await server.request('/v1/conversations', { body: {} })
    const { id } = Conversation.parse(await created.json())
    await ask('When?', { conversation: { id }, conversationId: 'desk-7' })
    expect((await last()).conversationId).toBe(id)
    const body = { model: 'agent', input: 'And why?', conversation: id }
    await (await server.request('/v1/responses', { body })).text()
    expect(await last()).toMatchObject({ conversationId: id, question: 'And why?' })
    await ask('When?', { conversationId: 'desk-7' })
    expect(await last()).not.toHaveProperty('conversationId')
  })

  it('is kept with the error that ended it, and the call that failed', async () => {
    upstream.always(errorReply(401, 'Wrong key'))
    const messages = [{ role: 'user', content: 'When?' }]
    await (await server.request('/chat', { body: { messages } })).text()
    const run = await last()
    expect(run).toMatchObject({
      outcome: 'upstream_unauthorized',
      error: { code: 'upstream_unauthorized' },
    })
    expect(run.modelCalls).toHaveLength(1)
    expect(run.modelCalls[0]?.milliseconds).toBeUndefined()
  })

  it('holds no secret, and long texts in part', async () => {
    const head = `${TEST_KEY} and ${'long '.repeat(10_000)}`
    await ask(head)
    const run = await last()
    expect(JSON.stringify(run)).not.toContain(TEST_KEY)
    expect(run.question).toMatch(/^\[secret\] and long .*\n\[\d+ more characters\]$/s)
    expect(run.question.length).toBeLessThan(20_100)
    expect(run.modelCalls[0]?.messages.at(-1)?.content.length).toBeLessThan(20_100)
  })

  it('is shown to keys with the scope admin only', async () => {
    await ask('When?')
    const { id } = await last()
    const body = { name: 'Chat', scopes: ['chat', 'query'] }
    const key = ApiKeyCreated.parse(await (await server.request('/admin/keys', { body })).json())
    const request = requester(server.url, key.secret)
    for (const path of ['/admin/runs', `/admin/runs/${id}`]) {
      expect(await failureOf(await request(path))).toMatchObject({ code: 'insufficient_scope' })
    }
  })

  it('outlives a restart', async () => {
    const DATA_DIR = await temporaryDirectory()
    const before = await startServer(modelAt(upstream, { DATA_DIR }))
    await ask('What stays?', {}, before)
    await before.close()
    const after = await startServer(modelAt(upstream, { DATA_DIR }))
    const [run] = await listed('', after)
    expect(run).toMatchObject({ question: 'What stays?' })
    expect((await runOf(run?.id, after)).modelCalls).toHaveLength(1)
  })

  it('takes the place of the oldest one; with RUNS_KEPT=0 none is kept', async () => {
    const two = await startServer(modelAt(upstream, { RUNS_KEPT: '2' }))
    for (const question of ['One?', 'Two?', 'Three?']) await ask(question, {}, two)
    const runs = await listed('', two)
    expect(runs.map(({ question }) => question)).toEqual(['Three?', 'Two?'])
    const none = await startServer(modelAt(upstream, { RUNS_KEPT: '0' }))
    await ask('One?', {}, none)
    expect(await listed('', none)).toEqual([])
  })
})
