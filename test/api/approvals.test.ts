import { ToolList } from '@agent-server/schemas/agent.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { Conversation, ConversationItem } from '../../src/dialects/conversations/schema.ts'
import { ask, complete } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const CALL = { name: 'semantic_search', arguments: { query: 'beavers' }, id: 'call_a' }
const QUESTION = 'Who builds dams of branches?'

const upstream = await startScriptedUpstream()
const tools = { semantic_search: { approval: 'always' } }
const server = await startServer(
  modelAt(upstream, {
    AGENT_CONFIG: await writeAgentFile({ tools }),
    TOP_K: '1',
    // A resumption that is refused must not keep its place.
    CHAT_CONCURRENCY: '2',
  }),
)
await server.ingest({ title: 'Owls', text: 'Owls hunt; none builds dams of branches.' })
await server.ingest({ title: 'Beavers', text: 'Beavers build lodges.' })

/** The model calls the tool, then answers. */
beforeEach(() => {
  const called = toolCallReply(CALL, { usage: { prompt_tokens: 10, completion_tokens: 1 } })
  const said = textReply('They do [2].', { usage: { prompt_tokens: 20, completion_tokens: 2 } })
  upstream.always((request) => {
    const script = modelRequest(request).messages.at(-1)?.role === 'tool' ? said : called
    return typeof script === 'function' ? script(request) : script
  })
})

/** Asks until the call waits; answers what it waits with. */
async function askUntilItWaits() {
  const { frames, done } = await ask(server, QUESTION, { includeSteps: true })
  expect(frames.map(({ frame }) => frame.type)).toEqual(['retrieved', 'approval-required', 'done'])
  expect(done?.finishReason).toBe('approval_required')
  const first = frames[1]
  if (first?.frame.type !== 'approval-required') throw new Error('Nothing waits')
  expect(first.event).toBe('message')
  return first.frame
}

const go = (state: string, approved: string[], more = {}) =>
  ask(server, QUESTION, { includeSteps: true, resume: { state, approved }, ...more })

describe('A call of a tool that waits for approval', () => {
  it('is named with its arguments, and runs once it is approved', async () => {
    const { calls, state } = await askUntilItWaits()
    expect(calls).toEqual([
      { callId: 'call_a', tool: 'semantic_search', input: { query: 'beavers' } },
    ])
    const { frames, answer, done } = await go(state, ['call_a'])
    expect(frames[0]?.frame).toMatchObject({ type: 'tool-call', tool: 'semantic_search' })
    expect(frames[1]?.frame).toMatchObject({ type: 'retrieved', query: 'beavers' })
    expect(frames[2]?.frame).toMatchObject({ type: 'tool-result', isError: false })
    expect(answer).toBe('They do [2].')
    expect(done?.hits.map(({ title }) => title)).toEqual(['Owls', 'Beavers'])
    expect(done).toMatchObject({ finishReason: 'stop', usage: { totalTokens: 33 } })
    const { messages } = modelRequest(upstream.requests.at(-1))
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(messages.at(-1)?.content).toContain('[2] Beavers')
  })

  it('does not run where it is refused, and the model is told', async () => {
    const { state } = await askUntilItWaits()
    const { frames, done } = await go(state, [])
    expect(frames[1]?.frame).toMatchObject({
      type: 'tool-result',
      isError: true,
      output: expect.stringContaining('refused'),
    })
    expect(done?.hits).toHaveLength(1)
    expect(modelRequest(upstream.requests.at(-1)).messages.at(-1)?.content).toContain('refused')
  })

  it('waits again where the model gives a later call the id of one that was approved', async () => {
    const { state } = await askUntilItWaits()
    upstream.always(toolCallReply(CALL))
    const { frames, done } = await go(state, ['call_a'])
    expect(frames.filter(({ frame }) => frame.type === 'tool-result')).toHaveLength(1)
    expect(done?.finishReason).toBe('approval_required')
  })

  it('waits in chat completions, too, in words and as data', async () => {
    const { choices, agent } = await complete(server, QUESTION)
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('semantic_search {"query":"beavers"}') },
    })
    const { state = '', calls = [] } = agent.approval ?? {}
    const approved = calls.map(({ callId }) => callId)
    const after = await complete(server, QUESTION, { resume: { state, approved } })
    expect(after.choices[0]?.message.content).toBe('They do [2].')
    expect(after.agent.approval).toBeUndefined()
  })

  it('goes on once, also where two say so at the same time', async () => {
    const { state } = await askUntilItWaits()
    const resume = { state, approved: ['call_a'] }
    const body = { messages: [{ role: 'user', content: QUESTION }], resume }
    const both = await Promise.all([1, 2].map(() => server.request('/chat', { body })))
    const texts = await Promise.all(both.map((response) => response.text()))
    expect(texts.filter((text) => text.includes('"finishReason":"stop"'))).toHaveLength(1)
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400])
    const before = upstream.requests.length
    const again = await failureOf(await server.request('/chat', { body }))
    expect(again).toMatchObject({
      status: 400,
      param: 'resume.state',
      message: expect.stringContaining('was already used'),
    })
    expect(upstream.requests).toHaveLength(before)
  })

  it('goes on after a refusal for want of a place', async () => {
    const { state } = await askUntilItWaits()
    const ended = Promise.withResolvers<void>()
    const begun = [upstream.nextRequest(), upstream.nextRequest()]
    upstream.always({ steps: [{ until: ended.promise }, { cut: true }] })
    const others = [1, 2].map(() => ask(server, 'Who hunts?'))
    await Promise.all(begun)
    const body = {
      messages: [{ role: 'user', content: QUESTION }],
      resume: { state, approved: [] },
    }
    const refused = await failureOf(await server.request('/chat', { body }))
    expect(refused.code).toBe('too_many_runs')
    ended.resolve()
    await Promise.allSettled(others)
    upstream.always(textReply('They do [2].'))
    expect((await go(state, ['call_a'])).answer).toBe('They do [2].')
  })

  it('goes on after a restart', async () => {
    const settings = modelAt(upstream, {
      AGENT_CONFIG: await writeAgentFile({ tools }),
      DATA_DIR: await temporaryDirectory(),
    })
    const first = await startServer(settings)
    const { frames } = await ask(first, QUESTION)
    const [waiting] = frames.map(({ frame }) => frame)
    await first.close()
    const second = await startServer(settings)
    const state = waiting?.type === 'approval-required' ? waiting.state : ''
    const { answer } = await ask(second, QUESTION, { resume: { state, approved: ['call_a'] } })
    expect(answer).toBe('They do [?].')
  })

  it.each([
    ['changed', (state: string) => `${state.slice(0, -3)}AAA`, QUESTION],
    ['made up', () => 'x.y', QUESTION],
    ['of other messages', (state: string) => state, 'Who hunts?'],
  ])('is not decided by a state that is %s', async (_case, change, question) => {
    const { state } = await askUntilItWaits()
    const before = upstream.requests.length
    const body = {
      messages: [{ role: 'user', content: question }],
      resume: { state: change(state), approved: ['call_a'] },
    }
    const failure = await failureOf(await server.request('/chat', { body }))
    expect(failure).toMatchObject({ status: 400, param: 'resume.state' })
    expect(upstream.requests).toHaveLength(before)
  })

  it('is shown at each tool under the switch', async () => {
    const { tools } = ToolList.parse(await (await server.request('/agent/tools')).json())
    const named = tools.filter(({ approval }) => approval === 'always')
    expect(named.map(({ name }) => name)).toEqual(['semantic_search', 'read_document', 'find_text'])
  })
})

describe('The links of an answer over HTTP', () => {
  it.each([
    ['no-images', 'See [x](https://evil.test) and [y](https://evil.test/?q=1).'],
    ['known', 'See [x] (`https://evil.test/?q=1`) and [y](https://owls.test/a).'],
  ])('are held to the setting links: %s', async (links, expected) => {
    const file = await writeAgentFile({ links })
    const own = await startServer(modelAt(upstream, { AGENT_CONFIG: file }))
    await own.ingest({ title: 'Owls', text: 'Owls hunt: see https://owls.test/b' })
    const said =
      links === 'known'
        ? 'See ![x](https://evil.test/?q=1) and [y](https://owls.test/a).'
        : 'See ![x](https://evil.test) and ![y](https://evil.test/?q=1).'
    upstream.always(textReply(said))
    expect((await ask(own, 'Who hunts owls?')).answer).toBe(expected)
    const { choices } = await complete(own, 'Who hunts owls?')
    expect(choices[0]?.message.content).toBe(expected)
  })
})

describe('An answer of a stored conversation that waits for approval', () => {
  it('is taken up where it is, once, and by its own state', async () => {
    const { id } = Conversation.parse(
      await (await server.request('/v1/conversations', { body: {} })).json(),
    )
    const waiting = await ask(server, QUESTION, { conversation: { id } })
    expect(waiting.done?.finishReason).toBe('approval_required')
    const start = waiting.frames[0]?.frame
    const parent = start?.type === 'turn-start' ? start.answerId : ''
    const read = async () => {
      const item = await server.request(`/v1/conversations/${id}/items/${parent}`)
      return ConversationItem.parse(await item.json())
    }
    const { status, agent } = await read()
    expect([status, agent?.approval?.calls]).toMatchObject(['incomplete', [{ callId: 'call_a' }]])
    const resume = { state: agent?.approval?.state ?? '', approved: ['call_a'] }
    const body = { messages: [{ role: 'user', content: QUESTION }], conversation: { id, parent } }
    const other = { ...body, resume: { ...resume, state: 'run_other' } }
    const refused = await failureOf(await server.request('/chat', { body: other }))
    expect([refused.status, refused.param]).toEqual([400, 'conversation.parent'])
    const { answer, done } = await ask(server, QUESTION, { conversation: { id, parent }, resume })
    expect([answer, done?.finishReason]).toEqual(['They do [2].', 'stop'])
    const after = await read()
    expect([after.status, after.agent?.approval]).toEqual(['completed', undefined])
    expect(after.agent?.steps).toMatchObject([{ tool: 'semantic_search', isError: false }])
    const again = await server.request('/chat', { body: { ...body, resume } })
    expect(again.status).toBe(400)
  })
})
