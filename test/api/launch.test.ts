import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Capabilities, ToolList } from '@agent-server/schemas/agent.ts'
import { AgentFile, ServerState, Settings } from '@agent-server/schemas/operator/admin.ts'
import { describe, expect, it, vi } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { freePort, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const START_MS = 30_000

const readState = async (server: TestServer) =>
  ServerState.parse(await (await server.request('/admin/server')).json())
const post = (server: TestServer, path: string) => server.request(path, { method: 'POST' })

/** The server once it is in a state. */
const until = (server: TestServer, wanted: ServerState['state']) =>
  vi.waitUntil(async () => (await readState(server).catch(() => undefined))?.state === wanted, {
    timeout: START_MS,
    interval: 50,
  })

describe('A server', verifies('admin.launch.stopped', 'admin.launch.failed'), () => {
  it('stops, answers what it is, and is launched again with all it had', async () => {
    const server = await startServerProcess({ PORT: await freePort() })
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    expect(await readState(server)).toMatchObject({ state: 'running', mode: 'agent' })
    expect((await post(server, '/admin/stop')).status).toBe(202)
    await until(server, 'stopped')

    expect((await server.request('/health')).status).toBe(200)
    expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200)
    expect((await fetch(`${server.url}/reference`)).status).toBe(200)
    const readiness = await fetch(`${server.url}/readiness`)
    expect([readiness.status, await readiness.json()]).toMatchObject([
      503,
      { status: 'not_ready', retrieval: 'lexical' },
    ])
    for (const path of ['/query', '/documents', '/v1/chat/completions', '/metrics']) {
      expect(await failureOf(await post(server, path))).toMatchObject({
        status: 503,
        code: 'not_launched',
        message: expect.stringMatching(/POST \/admin\/launch/),
      })
    }
    const messages = [{ role: 'user', content: 'Who hoots?' }]
    const draft = { body: { text: '{}', messages } }
    expect(await failureOf(await server.request('/admin/agent/chat', draft))).toMatchObject({
      status: 503,
      code: 'not_launched',
    })
    expect((await fetch(`${server.url}/documents`)).status).toBe(401)
    expect((await server.request('/admin/settings')).status).toBe(200)

    expect((await post(server, '/admin/launch')).status).toBe(202)
    await until(server, 'running')
    await expect.poll(async () => (await server.request('/readiness')).ok).toBe(true)
    expect(await search(server, 'owls')).toHaveLength(1)
    expect(new Set(server.log().map(({ pid }) => pid)).size).toBe(1)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  it(
    'whose configuration is wrong names every mistake, and is launched once they are mended',
    onlyLong,
    async () => {
      const directory = await temporaryDirectory()
      const port = await freePort()
      await writeFile(join(directory, 'agent.json'), '{"nmae": "x", "prompt": 3}')
      await writeFile(join(directory, '.env'), 'TOP_K=0\nLOG_LEVEL=info\n')
      const server = await startServerProcess({ PORT: port }, { directory, until: 'listening' })
      await expect.poll(() => server.stderr).toMatch(/TOP_K must be at least 1/)
      const state = await readState(server)
      expect(state).toMatchObject({ state: 'failed', reason: expect.stringContaining('TOP_K') })
      expect(state.mistakes.settings).toEqual([{ field: 'TOP_K', message: 'must be at least 1' }])
      expect(state.mistakes.agent.map(({ field }) => field)).toContain('prompt')
      const readiness = await (await server.request('/readiness')).text()
      expect(readiness).toContain('TOP_K')
      const forStrangers = await (await fetch(`${server.url}/readiness`)).text()
      expect(forStrangers).toMatch(/^(?!.*(?:TOP_K|agent\.json)).*not_ready/)
      expect(await failureOf(await post(server, '/admin/launch'))).toMatchObject({
        code: 'not_startable',
      })

      const { digest } = Settings.parse(await (await server.request('/admin/settings')).json())
      const set = { TOP_K: '7' }
      await server.request('/admin/settings', { method: 'PATCH', body: { basedOn: digest, set } })
      const file = AgentFile.parse(await (await server.request('/admin/agent')).json())
      const body = { text: '{"name": "desk"}', basedOn: file.digest }
      expect((await server.request('/admin/agent', { method: 'PUT', body })).status).toBe(200)
      expect((await readState(server)).mistakes).toEqual({ agent: [], settings: [] })
      expect(await readFile(join(directory, '.env'), 'utf8')).toContain('TOP_K=7')

      expect((await post(server, '/admin/launch')).status).toBe(202)
      await until(server, 'running')
      expect(await (await server.request('/agent')).json()).toMatchObject({ name: 'desk' })
    },
  )

  it(
    'that may not call its WEBHOOK_URL shows that, and is launched once it is changed',
    onlyLong,
    async () => {
      const directory = await temporaryDirectory()
      const webhook = 'WEBHOOK_URL=http://10.0.0.1/hook\nWEBHOOK_SECRET=whsec_'
      await writeFile(join(directory, '.env'), `${webhook}${'A'.repeat(43)}=\n`)
      const server = await startServerProcess({}, { directory, until: 'listening' })
      const { state, reason } = await readState(server)
      expect([state, reason]).toEqual(['failed', expect.stringMatching(/^WEBHOOK_URL/)])
      await writeFile(join(directory, '.env'), '')
      expect((await post(server, '/admin/launch')).status).toBe(202)
      await until(server, 'running')
    },
  )

  it('without a key of its own lets somebody in by a link alone', onlyLong, async () => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, '.env'), 'SERVER_API_KEY=short\n')
    const environment = { SERVER_API_KEY: undefined }
    const server = await startServerProcess(environment, { directory, until: 'listening' })
    const link = await server.said(/#token=/)
    const token = /#token=([\w-]+)/.exec(link)?.[1]
    expect((await fetch(`${server.url}/admin/server`)).status).toBe(401)
    const response = await fetch(`${server.url}/ui/session`, {
      method: 'POST',
      headers: {
        origin: server.url,
        'x-agent-server-web-ui': '1',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ token }),
    })
    expect(response.status).toBe(204)
  })
})

describe('The mode knowledge', () => {
  it(
    'has documents, search and chat, and nothing that acts',
    verifies('admin.launch.knowledge'),
    async () => {
      const AGENT_CONFIG = await writeAgentFile({
        mcpServers: { docs: { url: 'https://docs.example/mcp' } },
        skills: { sources: ['./gone'] },
      })
      const server = await startServer({ SERVER_MODE: 'knowledge', AGENT_CONFIG })
      await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
      const { tools } = ToolList.parse(await (await server.request('/agent/tools')).json())
      expect(tools.filter(({ state }) => state === 'on')).toEqual([])
      const capabilities = Capabilities.parse(
        await (await server.request('/agent/capabilities')).json(),
      )
      expect(capabilities).toMatchObject({
        mcp: [],
        skills: [],
        plugins: [],
        sandbox: { state: 'off' },
      })
      expect(await search(server, 'owls')).toHaveLength(1)
      expect(await readState(server)).toMatchObject({
        mode: 'knowledge',
        restart: { required: false },
      })
      // What does not count in this mode asks for no restart.
      await writeFile(AGENT_CONFIG, '{"tools": {"run_python": false}}')
      expect((await readState(server)).restart.required).toBe(false)
    },
  )

  it('sends a model that has tools neither any nor the skills', async () => {
    const upstream = await startScriptedUpstream()
    const AGENT_CONFIG = await writeAgentFile({})
    const skill = join(dirname(AGENT_CONFIG), 'skills', 'owl-watch')
    await mkdir(skill, { recursive: true })
    const head = '---\nname: owl-watch\ndescription: How to watch owls.\n---\n'
    await writeFile(join(skill, 'SKILL.md'), `${head}Be still.`)
    const environment = modelAt(upstream, { SERVER_MODE: 'knowledge', AGENT_CONFIG })
    const server = await startServer(environment)
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    upstream.script(textReply('At night [1].'))
    await ask(server, 'When do owls hoot?')
    const { tools, messages } = modelRequest(upstream.requests.at(-1))
    expect(tools).toEqual([])
    expect(messages[0]?.content).not.toMatch(/skill|tool/i)
  })
})
