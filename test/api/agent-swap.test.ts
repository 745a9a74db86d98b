import { hash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { AgentRecord } from '@agent-server/schemas/agent.ts'
import {
  AgentFile,
  AgentSaved,
  ServerState,
  Settings,
} from '@agent-server/schemas/operator/admin.ts'
import { RunList } from '@agent-server/schemas/operator/run.ts'
import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { connections, settled } from '../support/mcp-connections.ts'
import { startModernServer } from '../support/mcp-servers.ts'
import { modelRequest, promptOf, toolResults } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { chunk, DONE, streamReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const read = async (server: TestServer) =>
  AgentFile.parse(await (await server.request('/admin/agent')).json())
const put = async (server: TestServer, agent: object | string) => {
  const text = typeof agent === 'string' ? agent : JSON.stringify(agent)
  const { digest: basedOn } = await read(server)
  return server.request('/admin/agent', { method: 'PUT', body: { text, basedOn } })
}
const save = async (server: TestServer, agent: object | string) => {
  const response = await put(server, agent)
  expect(response.status).toBe(200)
  return AgentSaved.parse(await response.json())
}
const state = async (server: TestServer) =>
  ServerState.parse(await (await server.request('/admin/server')).json()).restart
const nameOf = async (server: TestServer) =>
  AgentRecord.parse(await (await server.request('/agent')).json()).name

async function startWith(agent: object, environment: Record<string, string> = {}) {
  const upstream = await startScriptedUpstream()
  const file = await writeAgentFile(agent)
  const more = { AGENT_CONFIG: file, OUTBOUND_ALLOW: '127.0.0.1', ...environment }
  return { upstream, file, server: await startServer(modelAt(upstream, more)) }
}

describe('A saved configuration', verifies('admin.agent.swap'), () => {
  it('answers the next question, while an answer that has begun ends with the earlier one', async () => {
    const { upstream, server } = await startWith({ name: 'desk', prompt: 'Be polite.' })
    const rest = Promise.withResolvers<void>()
    upstream.script(
      streamReply(
        chunk({ content: 'Half' }),
        { until: rest.promise },
        chunk({ content: ' and half.' }, 'stop'),
        DONE,
      ),
    )
    upstream.always(textReply('Aye.'))
    const asked = upstream.nextRequest()
    const running = ask(server, 'Who hoots?')
    await asked
    const saved = await save(server, { name: 'ship', prompt: 'Be a sailor.' })
    expect(saved).toMatchObject({ changed: ['name', 'prompt'], file: { restartFields: [] } })
    expect(await state(server)).toEqual({ required: false, agent: [], settings: [] })

    expect((await ask(server, 'Who hoots?')).answer).toBe('Aye.')
    expect(promptOf(upstream.requests.at(-1), 'system')).toMatch(/Be a sailor\.$/)
    rest.resolve()
    expect(await running).toMatchObject({
      answer: 'Half and half.',
      done: { finishReason: 'stop' },
    })

    expect(await nameOf(server)).toBe('ship')
    const models = await (await server.request('/v1/models')).json()
    expect(models).toMatchObject({ data: [{ id: 'ship' }, { id: 'ship-plain' }] })
    const completion = { messages: [{ role: 'user', content: 'Who?' }], stream: false }
    const response = await server.request('/v1/chat/completions', { body: completion })
    expect(await response.json()).toMatchObject({ model: 'ship' })
    expect(await (await server.request('/agent/capabilities')).json()).toMatchObject({
      restartRequired: false,
    })
  })

  it('keeps the tools of an answer that has begun until it has ended', async () => {
    const called = Promise.withResolvers<void>()
    const reply = Promise.withResolvers<void>()
    const remote = await startModernServer(() => {
      const greeter = new McpServer({ name: 'ours', version: '1.0.0' }, {})
      greeter.registerTool('hello', { description: 'Says hello' }, async () => {
        called.resolve()
        await reply.promise
        return { content: [{ type: 'text', text: 'Hello from there' }] }
      })
      return greeter
    })
    const { upstream, server } = await startWith({ mcpServers: { ours: { url: remote.url } } })
    await settled(server, 'ours', 'on')
    upstream.script(toolCallReply({ name: 'mcp__ours__hello', arguments: {} }))
    upstream.always(textReply('Done.'))
    const running = ask(server, 'Say hello')
    await called.promise
    await save(server, { tools: { semantic_search: false } })
    expect(await connections(server)).toEqual([])

    reply.resolve()
    expect((await running).answer).toBe('Done.')
    expect(toolResults(upstream.requests.at(-1))).toEqual(['Hello from there'])
    await ask(server, 'Say hello')
    const names = modelRequest(upstream.requests.at(-1)).tools.map((one) => one.function.name)
    expect(names).toContain('query_table')
    expect(names).not.toContain('mcp__ours__hello')
    expect(names).not.toContain('semantic_search')
  })

  it('has connected to its MCP servers, and keeps the connections that are the same', async () => {
    const remote = await startModernServer(() => {
      const greeter = new McpServer({ name: 'ours', version: '1.0.0' }, {})
      greeter.registerTool('hello', { description: 'Says hello' }, () => ({ content: [] }))
      return greeter
    })
    const { upstream, server } = await startWith({})
    upstream.always(textReply('Hello.'))
    const mcpServers = { ours: { url: remote.url } }
    await save(server, { mcpServers })
    await ask(server, 'Hello?')
    const tools = modelRequest(upstream.requests.at(-1)).tools.map((one) => one.function.name)
    expect(tools).toContain('mcp__ours__hello')

    const before = remote.requests.length
    await save(server, { mcpServers, prompt: 'Be brief.' })
    expect(remote.requests.length).toBe(before)
    expect(await connections(server)).toMatchObject([{ name: 'ours', state: 'on', tools: 1 }])
  })

  it('keeps the sandbox of a conversation unless its settings change', onlyLong, async () => {
    const { upstream, server } = await startWith({ sandbox: 'embedded' })
    const run = async (code: string) => {
      upstream.script(toolCallReply({ name: 'run_python', arguments: { code } }), textReply('Ok.'))
      const messages = [{ role: 'user', content: 'Run it' }]
      await readChat(await server.request('/chat', { body: { conversationId: 'one', messages } }))
      return toolResults(upstream.requests.at(-1)).join()
    }
    await run('x = 41')
    await save(server, { sandbox: 'embedded', prompt: 'Be brief.' })
    expect(await run('print(x + 1)')).toContain('42')
    await save(server, { sandbox: { kind: 'embedded', idleSeconds: 60 } })
    expect(await run('print(x + 1)')).toContain('NameError')
  })

  it('is applied also if the file has it already', async () => {
    const { file, server } = await startWith({ name: 'desk' })
    await writeFile(file, '{"name":"by-hand"}')
    expect((await state(server)).agent).toEqual(['name'])
    expect(await nameOf(server)).toBe('desk')
    await save(server, '{"name":"by-hand"}')
    expect(await nameOf(server)).toBe('by-hand')
    expect((await state(server)).agent).toEqual([])
  })

  it('reads the variables of its connections anew, and hides them from what is kept of runs', async () => {
    const remote = await startModernServer(() => new McpServer({ name: 'x', version: '1' }, {}))
    const { upstream, server } = await startWith({}, { DATA_DIR: await temporaryDirectory() })
    const agent = {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is written
      mcpServers: { ours: { url: remote.url, headers: { 'x-token': '${DESK_TOKEN}' } } },
    }
    await save(server, agent)
    expect(await connections(server)).toMatchObject([
      { state: 'unavailable', reason: 'The variable DESK_TOKEN is not set' },
    ])
    const settings = async () =>
      Settings.parse(await (await server.request('/admin/settings')).json())
    const variable = { DESK_TOKEN: 'a-token-of-the-desk' }
    const body = { basedOn: (await settings()).digest, set: variable }
    const patched = await server.request('/admin/settings', { method: 'PATCH', body })
    expect(patched.status).toBe(200)
    expect((await state(server)).settings).toEqual(['DESK_TOKEN'])

    await save(server, { ...agent, prompt: 'Be brief.' })
    expect(await connections(server)).toMatchObject([{ state: 'on' }])
    expect(remote.requests.at(-1)?.headers['x-token']).toBe('a-token-of-the-desk')
    expect((await state(server)).settings).toEqual([])

    upstream.always(textReply('The token is a-token-of-the-desk.'))
    await ask(server, 'What is the token?')
    const { runs } = RunList.parse(await (await server.request('/admin/runs')).json())
    const kept = await (await server.request(`/admin/runs/${runs[0]?.id}`)).text()
    expect(kept).toContain('[secret]')
    expect(kept).not.toContain('a-token-of-the-desk')
  })

  it('changes nothing if it cannot be opened, and names the field', async () => {
    const { upstream, file, server } = await startWith({ prompt: 'Be polite.' })
    upstream.always(textReply('Hello.'))
    const before = await readFile(file, 'utf8')
    await mkdir(join(dirname(file), 'plugins'))
    await writeFile(join(dirname(file), 'plugins/desk.mjs'), 'throw new Error("No key")')
    const agent = { prompt: 'Be rude.', plugins: ['./plugins/desk.mjs'] }
    expect(await failureOf(await put(server, agent))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'text.plugins.0',
      message: 'text.plugins.0: cannot be loaded: No key',
    })
    expect(await readFile(file, 'utf8')).toBe(before)
    const versions = await server.request('/admin/agent/versions')
    expect(await versions.json()).toEqual({ versions: [] })
    await ask(server, 'Hello?')
    expect(promptOf(upstream.requests.at(-1), 'system')).toMatch(/Be polite\.$/)
  })

  it('is what the file says, whoever of several savers comes last', async () => {
    const { file, server } = await startWith({})
    const names = Array.from({ length: 8 }, (_, n) => `name-${n}`)
    await Promise.all(names.map((name) => put(server, { name })))
    const text = await readFile(file, 'utf8')
    expect(JSON.parse(text)).toEqual({ name: await nameOf(server) })
    expect((await read(server)).digest).toBe(hash('sha256', text))
  })
})

const KILLS = 20

it('A server that is killed while it saves leaves a whole configuration, with which it starts', {
  ...onlyLong,
  ...verifies('admin.agent.save'),
}, async () => {
  const directory = await temporaryDirectory()
  const file = join(directory, 'agent.json')
  const textOf = (n: number) => JSON.stringify({ name: `n${n}`, prompt: `${n} `.repeat(30_000) })
  await writeFile(file, textOf(0))
  let saved = 0
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const server = await startServerProcess({}, { directory })
    const text = await readFile(file, 'utf8')
    expect(await nameOf(server)).toBe(JSON.parse(text).name)
    const saving = (async () => {
      for (;;) {
        const response = await put(server, textOf(saved + 1))
        if (response.status === 200) saved += 1
      }
    })().catch(() => undefined)
    await pause(50 + 37 * kill)
    server.send('SIGKILL')
    await server.exited
    await saving
    // The last one may be on disk, although nobody was told.
    expect([textOf(saved), textOf(saved + 1)]).toContain(await readFile(file, 'utf8'))
  }
})
