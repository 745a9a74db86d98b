import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { ServerState, Settings } from '../../src/schemas/operator/admin.ts'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { search } from '../support/knowledge.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { freePort, type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const RESTART_MS = 30_000

const readState = async (server: TestServer) =>
  ServerState.parse(await (await server.request('/admin/server')).json())
const restart = (server: TestServer) => server.request('/admin/restart', { method: 'POST' })
const setTopK = async (server: TestServer, value: string) => {
  const { digest } = Settings.parse(await (await server.request('/admin/settings')).json())
  const body = { basedOn: digest, set: { TOP_K: value } }
  return server.request('/admin/settings', { method: 'PATCH', body })
}

/** Waits for a server that started later than `startedAt`. */
const back = (server: ServerProcess, startedAt: string) =>
  vi.waitUntil(
    async () => {
      const state = await readState(server).catch(() => undefined)
      return state && state.startedAt !== startedAt ? state : undefined
    },
    { timeout: RESTART_MS, interval: 50 },
  )

const canReplace = process.execve !== undefined

describe.runIf(canReplace)('POST /admin/restart (needs a system that replaces processes)', () => {
  it(
    'ends open streams in order and begins anew under the same process id',
    verifies('admin.restart', 'admin.restart.needed'),
    async () => {
      const upstream = await startScriptedUpstream()
      upstream.script(
        streamReply(
          { pauseMs: 300 },
          chunk({ content: 'Half' }),
          chunk({ content: ' and half.' }, 'stop'),
          DONE,
        ),
      )
      const PORT = await freePort()
      const server = await startServerProcess(modelAt(upstream, { PORT, SHUTDOWN_GRACE: '10' }))
      await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
      expect(await readState(server)).toMatchObject({
        restart: { required: false, agent: [], settings: [], possible: true },
      })

      expect((await setTopK(server, '9')).status).toBe(200)
      await writeFile(join(server.directory, 'agent.json'), '{"name":"desk"}')
      const before = await readState(server)
      expect(before.restart).toMatchObject({ required: true, agent: ['name'], settings: ['TOP_K'] })

      const arrived = upstream.nextRequest()
      const answer = ask(server, 'Who hoots?')
      await arrived
      const response = await restart(server)
      expect([response.status, await response.json()]).toEqual([
        202,
        { startedAt: before.startedAt, graceSeconds: 10 },
      ])
      expect(await answer).toMatchObject({
        ...{ answer: 'Half and half.', done: { finishReason: 'stop' } },
      })

      const after = await back(server, before.startedAt)
      expect(after.restart).toMatchObject({ required: false, agent: [], settings: [] })
      expect(await (await server.request('/agent')).json()).toMatchObject({ name: 'desk' })
      expect(new Set(server.log().map(({ pid }) => pid)).size).toBe(1)
      await expect.poll(async () => (await server.request('/readiness')).ok).toBe(true)
      expect((await search(server, 'owls')).length).toBe(1)
      expect(await server.stop()).toEqual({ code: 0, signal: null })
    },
  )
})

describe('A restart', () => {
  const begun = vi.fn()

  it.each<[string, object, object]>([
    ['a wrong field', { limits: { rounds: 0 } }, { message: expect.stringContaining('rounds') }],
    ['an unknown field', { promt: '' }, { message: expect.stringContaining('promt') }],
  ])(
    'is refused with %s in agent.json',
    verifies('admin.restart.checked'),
    async (_case, agent, failure) => {
      const file = await writeAgentFile({})
      const server = await startServer({ AGENT_CONFIG: file }, { restart: begun })
      await writeFile(file, JSON.stringify(agent))
      expect(await failureOf(await restart(server))).toMatchObject({
        ...{ status: 409, code: 'not_startable', ...failure },
      })
      expect(begun).not.toHaveBeenCalled()
      expect((await server.request('/query', { body: { query: 'x' } })).status).toBe(200)
    },
  )

  it('is refused with a variable that is wrong', verifies('admin.restart.checked'), async () => {
    const directory = await temporaryDirectory()
    const server = await startServer({ DATA_DIR: directory }, { restart: begun })
    await writeFile(join(directory, '.env'), 'TOP_K=0\nUI=perhaps\n')
    expect(await failureOf(await restart(server))).toMatchObject({
      ...{ code: 'not_startable', param: 'TOP_K' },
      message: 'TOP_K: must be at least 1; UI: must be one of on, off',
    })
    expect(begun).not.toHaveBeenCalled()
  })

  it(
    'is refused with another model than that of the vectors',
    verifies('admin.restart.checked'),
    async () => {
      const directory = await temporaryDirectory()
      const { url } = await startScriptedEmbedder()
      const model = { EMBEDDING_MODEL: 'old', EMBEDDING_BASE_URL: url, EMBEDDING_API_KEY: 'key' }
      const { EMBEDDING_MODEL, ...given } = {
        SERVER_API_KEY: TEST_KEY,
        CHAT_MODEL: 'extractive',
        ...model,
      }
      const options = { restart: begun, given: { ...given, DATA_DIR: directory } }
      const server = await startServer({ DATA_DIR: directory, ...model }, options)
      await server.ingest({ text: 'Owls hoot.' })
      await writeFile(join(directory, '.env'), 'EMBEDDING_MODEL=new\nEMBEDDING_API_KEY=key\n')
      expect(await failureOf(await restart(server))).toMatchObject({
        ...{
          code: 'not_startable',
          message: expect.stringMatching(/embedded with "old".*re-embed/),
        },
      })
      expect(begun).not.toHaveBeenCalled()
    },
  )

  it(
    'is refused where the process cannot be replaced',
    verifies('admin.restart.checked'),
    async () => {
      const server = await startServer()
      expect((await readState(server)).restart).toMatchObject({ possible: false })
      expect(await failureOf(await restart(server))).toMatchObject({ code: 'restart_unavailable' })
    },
  )
})
