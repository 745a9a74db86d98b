import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { ConflictError } from '../../packages/client/src/agent-server.ts'
import { openDirectory } from '../../packages/stores/test/sqlite/store-data.ts'
import { clientOf } from '../support/client.ts'
import { onlyLong } from '../support/long.ts'
import { startModernServer } from '../support/mcp-servers.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { MODEL_KEY, startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

it('The agent is described: its profile, its tools, what works', async () => {
  const { agent } = clientOf(await startServer())
  expect(await agent.get()).toMatchObject({ name: 'agent', profile: { retrieval: 'lexical' } })
  expect(await agent.tools()).toContainEqual(expect.objectContaining({ name: 'semantic_search' }))
  expect(await agent.capabilities()).toMatchObject({ retrieval: 'lexical', restartRequired: false })
})

it(
  'Its parts are tried: skills, sandbox, a connection with one of its tools',
  onlyLong,
  async () => {
    const build = () => {
      const server = new McpServer({ name: 'ours', version: '1.0.0' }, {})
      server.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'Hello there' }] }))
      return server
    }
    const { url } = await startModernServer(build)
    const file = await writeAgentFile({ sandbox: 'embedded', mcpServers: { ours: { url } } })
    const { agent } = clientOf(
      await startServer({ AGENT_CONFIG: file, OUTBOUND_ALLOW: '127.0.0.1' }),
    )
    expect((await agent.skills.reload()).skills).toEqual(expect.any(Array))
    expect(await agent.sandbox.verify()).toMatchObject({ kind: 'embedded', ok: true })
    const { digest } = await agent.mcp.test('ours')
    const tested = await agent.mcp.test('ours', { accept: true, digest, tool: 'hello' })
    expect(tested).toMatchObject({ ok: true, output: expect.stringContaining('Hello there') })
  },
)

it('A file that a tool made is downloaded, by its id or as an answer names it', async () => {
  const DATA_DIR = await temporaryDirectory()
  const { artifacts: store, close } = await openDirectory(DATA_DIR)
  const bytes = Uint8Array.from({ length: 300 }, (_, byte) => byte % 256)
  const artifact = await store.add({ name: 'a.png', mediaType: 'image/png', bytes })
  await close()
  const { artifacts } = clientOf(await startServer({ DATA_DIR }))
  for (const named of [artifact, artifact.id]) {
    const response = await artifacts.download(named)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
  }
})

it('The server says how it is, also where a part of it does not work, and without a key', async () => {
  const server = await startServer()
  const { admin } = clientOf(server)
  expect(await admin.metrics()).toMatch(/^# HELP /)
  const stranger = clientOf(server, { apiKey: null }).admin
  expect(await stranger.health()).toEqual({ status: 'ok' })
  expect(await stranger.readiness()).toMatchObject({ status: 'ready' })
  await expect(stranger.metrics()).rejects.toMatchObject({ name: 'AuthenticationError' })
  const idle = clientOf(await startServer({}, { begin: false }))
  expect(await idle.admin.readiness()).toMatchObject({ status: 'not_ready' })
})

it('The agent’s configuration is read, checked, saved, and taken back; the settings, too', async () => {
  const directory = await temporaryDirectory()
  const file = join(directory, 'agent.json')
  const { admin } = clientOf(await startServer({ AGENT_CONFIG: file }))
  const first = await admin.agent.get()
  expect(await admin.agent.check('{ "name": 1 }')).toMatchObject({ mistakes: [{}] })
  const basedOn = first.digest
  const saved = await admin.agent.save({ text: '{ "name": "owl" }', basedOn })
  await admin.agent.save({ text: '{ "name": "heron" }', basedOn: saved.file.digest })
  await expect(admin.agent.save({ text: '{}', basedOn })).rejects.toThrow(ConflictError)
  const versions = await admin.agent.versions()
  const owl = await admin.agent.version(saved.file.digest)
  expect(versions.map(({ digest }) => digest)).toContain(saved.file.digest)
  expect(owl.text).toBe('{ "name": "owl" }')
  const { digest } = await admin.agent.get()
  expect((await admin.agent.restore(saved.file.digest, digest)).file.digest).toBe(saved.file.digest)
  const settings = await admin.settings.get()
  expect(settings.settings).toContainEqual(expect.objectContaining({ name: 'TOP_K' }))
  const patch = { basedOn: settings.digest, set: { TOP_K: '1000' } }
  await expect(admin.settings.save(patch)).rejects.toMatchObject({ status: 400 })
})

it('A model is tried with settings that are not saved', async () => {
  const upstream = await startScriptedUpstream()
  upstream.always(textReply('Yes.'))
  const { admin } = clientOf(await startServer({}, { given: { SERVER_API_KEY: TEST_KEY } }))
  const set = { CHAT_MODEL: 'drafted', CHAT_API_KEY: MODEL_KEY, CHAT_BASE_URL: upstream.url }
  const tried = await admin.models.test({ kind: 'chat', set })
  expect(tried).toMatchObject({ ok: true, model: 'drafted', chat: { answer: 'Yes.' } })
  expect(await admin.models.list({ kind: 'chat', set })).toEqual(['scripted'])
})
