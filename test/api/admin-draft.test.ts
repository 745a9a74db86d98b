import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { RunList } from '@agent-server/schemas/operator/run.ts'
import { McpServer } from '@modelcontextprotocol/server'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { connections, poll, settled } from '../support/mcp-connections.ts'
import { startHungServer, startModernServer } from '../support/mcp-servers.ts'
import { modelRequest, promptOf, toolResults } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { hangReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const QUESTION = 'When do owls hunt?'

let description = 'Says hello'
const offered = await startModernServer(() => {
  const greeter = new McpServer({ name: 'ours', version: '1.0.0' }, {})
  greeter.registerTool('hello', { description }, () => ({
    content: [{ type: 'text', text: 'Hello from there' }],
  }))
  return greeter
})
const OURS = { mcpServers: { ours: { url: offered.url } } }

const upstream = await startScriptedUpstream()
const AGENT_CONFIG = await writeAgentFile({ prompt: 'Answer like a librarian.', ...OURS })
const server = await startServer(modelAt(upstream, { AGENT_CONFIG, OUTBOUND_ALLOW: '127.0.0.1' }))
await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
beforeEach(() => upstream.always(textReply('At night [1].')))

const requestOf = (agent: object, more: object = {}) => ({
  body: {
    text: JSON.stringify(agent),
    messages: [{ role: 'user', content: QUESTION }],
    ...more,
  },
})
const tryIt = (agent: object, more?: object, by = server.request) =>
  by('/admin/agent/chat', requestOf(agent, more))
const answerOf = async (agent: object, more?: object) => readChat(await tryIt(agent, more))

const toolNames = () =>
  modelRequest(upstream.requests.at(-1)).tools.map(({ function: { name } }) => name)
const systemPrompt = () => promptOf(upstream.requests.at(-1), 'system')
const runs = async () =>
  RunList.parse(await (await server.request('/admin/runs')).json()).runs.length

describe('A draft of the agent', verifies('admin.agent.draft'), () => {
  it('answers as it is written, while the agent that runs stays as it is', async () => {
    await settled(server, 'ours', 'on')
    const file = await (await server.request('/admin/agent')).text()
    const before = await runs()
    const tools = { semantic_search: false, run_python: false }
    const { frames, answer, done } = await answerOf({ prompt: 'Answer like a sailor.', tools })
    expect(frames[0]?.frame).toEqual({ type: 'draft', unavailable: [] })
    expect(answer).toBe('At night [1].')
    expect(done).toMatchObject({ finishReason: 'stop', hits: [{ title: 'Owls' }] })
    expect(systemPrompt()).toContain('like a sailor')
    expect(toolNames()).toContain('query_table')
    expect(toolNames()).not.toContain('semantic_search')
    expect(toolNames()).not.toContain('mcp__ours__hello')
    expect(await runs()).toBe(before)

    await ask(server, QUESTION)
    expect(systemPrompt()).toContain('like a librarian')
    expect(toolNames()).toEqual(expect.arrayContaining(['semantic_search', 'mcp__ours__hello']))
    expect(await (await server.request('/admin/agent')).text()).toBe(file)
    expect(await connections(server)).toMatchObject([{ name: 'ours', state: 'on' }])
  })

  it('calls the tools of its own connections, and names what it cannot use', async () => {
    upstream.script(toolCallReply({ name: 'mcp__fresh__hello', arguments: {} }))
    const mcpServers = {
      fresh: { url: offered.url },
      gone: { url: 'http://127.0.0.1:9/mcp' },
      off: { url: 'http://127.0.0.1:9/mcp', enabled: false },
    }
    const draft = { mcpServers, skills: { sources: ['./nowhere'] } }
    const { frames } = await answerOf(draft, { includeSteps: true })
    expect(frames[0]?.frame).toMatchObject({
      unavailable: [
        { part: 'mcp', name: 'gone', reason: '127.0.0.1:9 could not be reached' },
        { part: 'skill', name: './nowhere', reason: expect.any(String) },
      ],
    })
    expect(toolResults(upstream.requests.at(-1))).toEqual(['Hello from there'])
    expect(frames.map(({ frame }) => frame.type)).toContain('tool-result')
  })

  it('keeps back tools that have changed since they were accepted, and accepts none itself', async () => {
    await settled(server, 'ours', 'on')
    description = 'Says hello, and good night'
    offered.toolsChanged()
    await poll(() => connections(server), [{ waiting: ['mcp__ours__hello'] }])
    await answerOf({ ...OURS })
    expect(toolNames()).not.toContain('mcp__ours__hello')
    await answerOf({ mcpServers: { other: { url: offered.url } } })
    expect(toolNames()).toContain('mcp__other__hello')
    description = 'Says hello'
    await answerOf({ mcpServers: { other: { url: offered.url } } })
    expect(toolNames()).toContain('mcp__other__hello')
  })

  it('waits for approval, and goes on with it', async () => {
    const call = { name: 'semantic_search', arguments: { query: 'owls' }, id: 'call_a' }
    const draft = { tools: { semantic_search: { approval: 'always' } } }
    upstream.script(toolCallReply(call))
    const waiting = await answerOf(draft)
    const found = waiting.frames.find(({ frame }) => frame.type === 'approval-required')?.frame
    if (found?.type !== 'approval-required') throw new Error('Nothing waits')
    const resume = { state: found.state, approved: ['call_a'] }
    const { done } = await answerOf(draft, { resume })
    expect(done).toMatchObject({ finishReason: 'stop' })
    expect(toolResults(upstream.requests.at(-1)).join()).toContain('Owls hunt at night.')
  })

  it('is refused with its mistakes before anything is opened', async () => {
    const asked = upstream.requests.length
    expect(await failureOf(await tryIt({ prompt: 3 }))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'text.prompt',
    })
    expect(await failureOf(await tryIt({}, { messages: [] }))).toMatchObject({
      status: 400,
      param: 'messages',
    })
    expect(upstream.requests.length).toBe(asked)
  })

  it('is tried twice at a time, and ends when whoever asked leaves', async () => {
    upstream.always(hangReply())
    const leaving = new AbortController()
    const open = [1, 2].map(async () => {
      const asked = upstream.nextRequest()
      const { signal } = leaving
      const request = server.request('/admin/agent/chat', { ...requestOf({}), signal })
      return { request, upstream: await asked, response: await request }
    })
    const [first, second] = await Promise.all(open)
    expect(await failureOf(await tryIt({}))).toMatchObject({ status: 429, code: 'too_many_runs' })
    leaving.abort()
    await first?.upstream.closed
    await second?.upstream.closed
    upstream.always(textReply('At night [1].'))
    await expect.poll(async () => (await tryIt({})).status).toBe(200)
  })

  it('is closed when whoever asked leaves while it is opened', async () => {
    const hung = await startHungServer()
    const mcpServers = { slow: { url: `${hung.url}/mcp` } }
    for (const _ of [1, 2, 3]) {
      const signal = AbortSignal.timeout(200)
      const left = server.request('/admin/agent/chat', { ...requestOf({ mcpServers }), signal })
      await expect(left).rejects.toThrow('timeout')
    }
    await expect.poll(async () => (await tryIt({})).status).toBe(200)
  })

  it('is tried by a key with both scopes, within what that key may change', async () => {
    const keyWith = async (...scopes: string[]) => {
      const made = await server.request('/admin/keys', { body: { name: 'k', scopes } })
      return requester(server.url, ApiKeyCreated.parse(await made.json()).secret)
    }
    const both = await keyWith('admin', 'chat')
    expect(await failureOf(await tryIt(OURS, {}, await keyWith('admin')))).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
    })
    expect(await failureOf(await tryIt({ mcpServers: {} }, {}, both))).toMatchObject({
      status: 403,
      param: 'text.mcpServers',
    })
    const { answer } = await readChat(await tryIt({ ...OURS, prompt: 'Be brief.' }, {}, both))
    expect(answer).toBe('At night [1].')
  })
})
