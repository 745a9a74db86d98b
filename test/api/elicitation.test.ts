import { McpTestResult } from '@agent-server/schemas/mcp.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { ask, complete } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import { startRestaurant } from '../support/restaurant.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const QUESTION = 'Book a table'

const restaurant = await startRestaurant()
const { told } = restaurant
const upstream = await startScriptedUpstream()
// biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is to be written
const headers = { authorization: 'Bearer ${TOKEN}' }
const settings = async (approval?: string) =>
  modelAt(upstream, {
    AGENT_CONFIG: await writeAgentFile({
      mcpServers: { table: { url: restaurant.url, headers, ...(approval && { approval }) } },
    }),
    OUTBOUND_ALLOW: '127.0.0.1',
    TOKEN: 'tok-1234567890',
    TOP_K: '1',
  })
const server = await startServer(await settings())

/** Waits until the tools can be called. */
const connected = (at: TestServer) =>
  expect
    .poll(async () => (await at.request('/agent/capabilities')).text())
    .toContain('"state":"on"')

const CALLS = [
  { name: 'mcp__table__book', arguments: {}, id: 'call_book' },
  { name: 'mcp__table__menu', arguments: {}, id: 'call_menu' },
]
beforeEach(async () => {
  await connected(server)
  restaurant.forget()
  const called = toolCallReply(CALLS)
  const said = textReply('Done.')
  upstream.always((request) => {
    const script = modelRequest(request).messages.at(-1)?.role === 'tool' ? said : called
    return typeof script === 'function' ? script(request) : script
  })
})

async function askUntilItAsks(at = server, more = {}) {
  const { frames, done } = await ask(at, QUESTION, { includeSteps: true, ...more })
  expect(done?.finishReason).toBe('approval_required')
  const frame = frames.map((one) => one.frame).find(({ type }) => type === 'approval-required')
  if (frame?.type !== 'approval-required') throw new Error('Nothing waits')
  return { frames: frames.map((one) => one.frame), ...frame }
}

const CONTENT = { guests: 2, when: '2026-12-01', seat: 'outside' }
const answersWith = (content: object, id = 'details') => [{ callId: 'call_book', id, content }]
const accept = (state: string, content: object = CONTENT) => ({
  state,
  approved: ['call_book'],
  answers: answersWith(content),
})

describe('What an MCP server asks before it goes on with a call', () => {
  it('waits for the client, while the other calls of the round are done', async () => {
    const { frames, calls } = await askUntilItAsks()
    expect(frames.map(({ type }) => type)).toEqual([
      'retrieved',
      'tool-call',
      'tool-call',
      'tool-result',
      'approval-required',
      'done',
    ])
    expect(calls).toEqual([
      {
        callId: 'call_book',
        tool: 'mcp__table__book',
        input: {},
        elicitations: [
          {
            id: 'details',
            message: 'For how many, and when? [hidden]',
            requestedSchema: expect.objectContaining({ required: ['guests', 'when'] }),
          },
        ],
      },
    ])
    expect(told).toEqual([])
  })

  it('is told what the user enters, with the state that it gave, and no call runs twice', async () => {
    const { state } = await askUntilItAsks()
    const { frames, answer } = await ask(server, QUESTION, {
      includeSteps: true,
      resume: accept(state),
    })
    expect(told).toEqual([{ answer: { action: 'accept', content: CONTENT }, state: 'table 7' }])
    expect(restaurant.menus()).toBe(1)
    expect(frames.map(({ frame }) => frame.type)).toEqual(['tool-result', 'text-delta', 'done'])
    expect(answer).toBe('Done.')
    const { messages } = modelRequest(upstream.requests.at(-1))
    expect(messages.slice(-2).map(({ content }) => content)).toEqual([
      expect.stringContaining('accept'),
      'Soup',
    ])
  })

  it('is told that the user declines', async () => {
    const { state } = await askUntilItAsks()
    const { answer } = await ask(server, QUESTION, { resume: { state, approved: [] } })
    expect(told).toEqual([{ answer: { action: 'decline' }, state: 'table 7' }])
    expect(answer).toBe('Done.')
  })

  it.each<[string, object, string]>([
    ['a number that is too large', { ...CONTENT, guests: 13 }, 'resume.answers.0.content.guests'],
    ['a fraction', { ...CONTENT, guests: 1.5 }, 'resume.answers.0.content.guests'],
    ['what is no date', { ...CONTENT, when: 'tomorrow' }, 'resume.answers.0.content.when'],
    ['another choice', { ...CONTENT, seat: 'roof' }, 'resume.answers.0.content.seat'],
    ['another of several', { ...CONTENT, extras: ['x'] }, 'resume.answers.0.content.extras.0'],
    [
      'too many of several',
      { ...CONTENT, extras: ['ramp', 'highchair'] },
      'resume.answers.0.content.extras',
    ],
    ['a text that is too short', { ...CONTENT, name: 'a' }, 'resume.answers.0.content.name'],
    ['a text that is too long', { ...CONTENT, name: 'abcdef' }, 'resume.answers.0.content.name'],
    ['a word for a switch', { ...CONTENT, quiet: 'yes' }, 'resume.answers.0.content.quiet'],
    ['a missing field', { guests: 2 }, 'resume.answers.0.content.when'],
    ['a field that nobody asked for', { ...CONTENT, card: '4111' }, 'resume.answers.0.content'],
  ])('refuses %s by its name, and can still be answered', async (_case, content, param) => {
    const { state } = await askUntilItAsks()
    const messages = [{ role: 'user', content: QUESTION }]
    const body = { messages, resume: accept(state, content) }
    const failure = await failureOf(await server.request('/chat', { body }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
    expect(told).toEqual([])
    expect((await ask(server, QUESTION, { resume: accept(state) })).answer).toBe('Done.')
  })

  it.each<[string, object, string]>([
    ['no answer', { answers: undefined }, 'resume.answers'],
    ['the answer to another', { answers: answersWith(CONTENT, 'other') }, 'resume.answers'],
    ['an answer to a declined one', { approved: [], answers: answersWith(CONTENT) }, '.0'],
  ])('is not decided by %s', async (_case, more, place) => {
    const { state } = await askUntilItAsks()
    const messages = [{ role: 'user', content: QUESTION }]
    const body = { messages, resume: { ...accept(state), ...more } }
    const failure = await failureOf(await server.request('/chat', { body }))
    expect([failure.status, failure.param]).toEqual([400, expect.stringContaining(place)])
    expect(told).toEqual([])
  })

  it('comes after the approval of the call, if the tool needs one', async () => {
    const careful = await startServer(await settings('always'))
    await connected(careful)
    const first = await askUntilItAsks(careful)
    expect(first.calls.map(({ elicitations }) => elicitations)).toEqual([undefined, undefined])
    expect(restaurant.menus()).toBe(0)
    const approved = ['call_book', 'call_menu']
    const second = await askUntilItAsks(careful, { resume: { state: first.state, approved } })
    expect(second.calls).toMatchObject([{ elicitations: [{ id: 'details' }] }])
    const { answer } = await ask(careful, QUESTION, { resume: accept(second.state) })
    expect([answer, restaurant.menus(), told.length]).toEqual(['Done.', 1, 1])
  })

  it('waits in chat completions, too, in words and as data', async () => {
    const { choices, agent } = await complete(server, QUESTION)
    expect(choices[0]?.message.content).toContain('For how many, and when?')
    const after = await complete(server, QUESTION, { resume: accept(agent.approval?.state ?? '') })
    expect(after.choices[0]?.message.content).toBe('Done.')
    expect(told).toHaveLength(1)
  })

  it('can be answered after a restart', onlyLong, async () => {
    const kept = { ...(await settings()), DATA_DIR: await temporaryDirectory() }
    const before = await startServer(kept)
    await connected(before)
    const { state } = await askUntilItAsks(before)
    await before.close()
    const after = await startServer(kept)
    await connected(after)
    expect((await ask(after, QUESTION, { resume: accept(state) })).answer).toBe('Done.')
    expect([told.length, restaurant.menus()]).toEqual([1, 1])
  })

  it('is shown by the test of the connection', async () => {
    const body = { tool: 'book' }
    const tested = await server.request('/agent/mcp/table/test', { body })
    const { ok, steps } = McpTestResult.parse(await tested.json())
    expect(ok).toBe(false)
    expect(steps.at(-1)?.message).toContain('For how many, and when? [hidden]')
  })
})
