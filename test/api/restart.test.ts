import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { ToolList } from '@agent-server/schemas/agent.ts'
import { ServerState, Settings } from '@agent-server/schemas/operator/admin.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { multilingualInstalled } from '../support/multilingual-e5.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { freePort, type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const RESTART_MS = 30_000
/** After the first. */
const RESTARTS = 9

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

describe('POST /admin/restart', () => {
  it(
    'ends open streams in order and starts again in the same process',
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
        restart: { required: false, agent: [], settings: [] },
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
        answer: 'Half and half.',
        done: { finishReason: 'stop' },
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

  it('goes back to the old address where the new one is taken meanwhile', onlyLong, async () => {
    const second = await freePort()
    const { server, startedAt, restartAfter } = await startRenewable()
    await save(server, `PORT=${second}`)
    await restartAfter(async () => {
      const holder = createServer().listen(Number(second), '127.0.0.1')
      onTestFinished(() => void holder.close())
      await once(holder, 'listening')
    })
    expect(await back(server, startedAt)).toMatchObject({
      state: 'running',
      reason: expect.stringContaining(`:${second}: another server is listening there`),
      restart: { required: true, settings: ['PORT'] },
    })
  })

  it('goes back to settings that worked, but to no other key', async () => {
    const { server, startedAt, restartAfter } = await startRenewable()
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    await save(server, 'DATA_DIR=./other', `SERVER_API_KEY=${NEW_KEY}`)
    await restartAfter(() => blockOther(server))
    const renewed = { ...server, request: requester(server.url, NEW_KEY) }
    expect(await back(renewed, startedAt)).toMatchObject({
      state: 'running',
      reason: expect.stringContaining('other'),
      restart: { required: true, settings: ['DATA_DIR'] },
    })
    await expect.poll(async () => (await renewed.request('/readiness')).ok).toBe(true)
    expect((await server.request('/admin/server')).status).toBe(401)
    expect((await search(renewed, 'owls')).length).toBe(1)
    expect(await failureOf(await restart(renewed))).toMatchObject({ code: 'not_startable' })
  })

  it('goes back to no setting that lets in whom the saved ones do not', onlyLong, async () => {
    const { server, startedAt, restartAfter } = await startRenewable('TRUST_PROXY=10.0.0.0/8')
    await save(server, 'DATA_DIR=./other')
    await restartAfter(() => blockOther(server))
    expect(await back(server, startedAt)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('other'),
    })
  })

  it('goes back from no other store that was open already', onlyLong, async () => {
    const { server, startedAt, restartAfter } = await startRenewable()
    await save(server, 'DATA_DIR=./other')
    await restartAfter(async () => {
      await symlink(join(server.directory, '.env/index'), join(server.directory, 'other/index'))
    })
    await back(server, startedAt)
    const state = () => readState(server).then((read) => read.state, String)
    await expect.poll(state, { timeout: RESTART_MS }).toBe('failed')
  })

  it('leaves nothing behind: after some, no thread or handle more', onlyLong, async () => {
    const plugin = `export default [{
      name: 'state', description: 'x', inputSchema: { type: 'object' }, run: async () => 1,
    }]`
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'agent.json'), '{"plugins": ["./plugins/desk.mjs"]}')
    const file = join(directory, 'plugins/desk.mjs')
    await mkdir(dirname(file))
    await writeFile(file, plugin)
    // The system chooses the port, and it stays.
    const server = await startServerProcess({}, { directory })
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const again = async () => {
      const { startedAt } = await readState(server)
      expect((await restart(server)).status).toBe(202)
      await back(server, startedAt)
      await expect.poll(async () => (await server.request('/readiness')).ok).toBe(true)
      expect((await search(server, 'owls')).length).toBe(1)
    }
    // What is opened once and kept is open after the first.
    await again()
    const before = await countOpen(server)
    for (let times = 0; times < RESTARTS; times += 1) await again()
    // A process that embeds may have been there before, and has ended since.
    const more = async () => {
      const { threads, handles } = await countOpen(server)
      return {
        threads: Math.max(threads, before.threads),
        handles: [...new Set([...before.handles, ...handles])],
      }
    }
    await expect.poll(more).toEqual(before)
    await writeFile(file, plugin.replace('state', 'fresh'))
    await again()
    const { tools } = ToolList.parse(await (await server.request('/agent/tools')).json())
    expect(tools.map(({ name }) => name)).toContain('desk__fresh')
  })
})

const NEW_KEY = 'another-key-for-tests'

/** A server with its key and these settings in its file, which a restart waits for until something has been done. */
async function startRenewable(...settings: string[]) {
  const directory = await temporaryDirectory()
  await save({ directory }, ...settings)
  const upstream = await startScriptedUpstream()
  const done = Promise.withResolvers<void>()
  const late = [chunk({ content: 'Late.' }, 'stop'), DONE]
  upstream.script(streamReply({ until: done.promise }, ...late))
  const environment = { SHUTDOWN_GRACE: '30', NODE_ENV: 'production', UI: 'off' }
  const server = await startServerProcess(
    { ...modelAt(upstream), ...environment, PORT: undefined, SERVER_API_KEY: undefined },
    { directory },
  )
  const { startedAt } = await readState(server)
  return {
    server,
    startedAt,
    async restartAfter(work: () => Promise<void>) {
      const arrived = upstream.nextRequest()
      const answer = ask(server, 'Who hoots?')
      await arrived
      expect((await restart(server)).status).toBe(202)
      await work()
      done.resolve()
      await answer
    },
  }
}

/** With the key of the tests and a port that the system chooses and that stays, unless a line has another. */
const save = ({ directory }: Pick<ServerProcess, 'directory'>, ...lines: string[]) =>
  writeFile(
    join(directory, '.env'),
    [`SERVER_API_KEY=${TEST_KEY}`, 'PORT=0', ...lines, ''].join('\n'),
  )

/** The place was there when the restart was checked. */
async function blockOther({ directory }: ServerProcess) {
  await rm(join(directory, 'other'), { recursive: true })
  await writeFile(join(directory, 'other'), 'A file.')
}

/** Threads as Linux counts them, and what keeps the event loop alive, by its kind. */
async function countOpen({ pid, request }: ServerProcess) {
  const count = async (what: string) =>
    process.platform === 'linux' ? (await readdir(`/proc/${pid}/${what}`)).length : 0
  const metrics = await (await request('/metrics')).text()
  const kinds = [...metrics.matchAll(/^nodejs_active_handles\{type="(\w+)"\} (\d+)$/gm)]
  return {
    threads: await count('task'),
    // Connections of clients come and go.
    handles: kinds.filter(([, kind]) => kind !== 'Socket').map(([line]) => line),
  }
}

const begun = vi.fn()
const directory = await temporaryDirectory()
const file = join(directory, 'agent.json')
const server = await startServer({ DATA_DIR: directory }, { restart: begun })

describe('A restart', verifies('admin.restart.checked'), () => {
  afterEach(async () => {
    await writeFile(file, '{}')
    await rm(join(directory, '.env'), { force: true })
  })

  it.each<[string, object, object]>([
    ['a wrong field', { limits: { rounds: 0 } }, { message: expect.stringContaining('rounds') }],
    ['an unknown field', { promt: '' }, { message: expect.stringContaining('promt') }],
  ])('is refused with %s in agent.json', async (_case, agent, failure) => {
    await writeFile(file, JSON.stringify(agent))
    expect(await failureOf(await restart(server))).toMatchObject({
      status: 409,
      code: 'not_startable',
      ...failure,
    })
    expect(begun).not.toHaveBeenCalled()
    expect((await server.request('/query', { body: { query: 'x' } })).status).toBe(200)
  })

  it('is refused with a variable that is wrong', async () => {
    await writeFile(join(directory, '.env'), 'TOP_K=0\nUI=perhaps\n')
    expect(await failureOf(await restart(server))).toMatchObject({
      code: 'not_startable',
      param: 'UI',
      message: 'UI: must be one of on, off; TOP_K: must be at least 1',
    })
    expect(begun).not.toHaveBeenCalled()
  })

  it('is refused with a port that is taken, which cannot be saved, either', onlyLong, async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void holder.close())
    await once(holder, 'listening')
    const directory = await temporaryDirectory()
    const given = {
      SERVER_API_KEY: TEST_KEY,
      DATA_DIR: directory,
      CHAT_MODEL: 'extractive',
      EMBEDDING_MODEL: 'none',
    }
    const options = { restart: begun, given }
    const server = await startServer({ DATA_DIR: directory }, options)
    const { port } = z.object({ port: z.int() }).parse(holder.address())
    const { digest } = Settings.parse(await (await server.request('/admin/settings')).json())
    for (const [set, param] of [
      [{ PORT: String(port) }, 'set.PORT'],
      [{ HOST: '192.0.2.1' }, 'set.HOST'],
    ] as const) {
      const body = { basedOn: digest, set }
      const saved = await server.request('/admin/settings', { method: 'PATCH', body })
      expect(await failureOf(saved)).toMatchObject({
        status: 400,
        param,
        message: expect.stringMatching(/listening there|an address of this machine/),
      })
    }
    await writeFile(join(directory, '.env'), `PORT=${port}\n`)
    expect(await failureOf(await restart(server))).toMatchObject({
      code: 'not_startable',
      message: expect.stringContaining('another server is listening there'),
    })
    expect(begun).not.toHaveBeenCalled()
  })

  it('is refused with a language of OCR whose package is missing', async () => {
    await writeFile(join(directory, '.env'), 'OCR_LANGUAGES=eng+tlh\n')
    expect(await failureOf(await restart(server))).toMatchObject({
      code: 'not_startable',
      message: expect.stringContaining('npm install @tesseract.js-data/tlh'),
    })
    expect(begun).not.toHaveBeenCalled()
  })

  it('is not what a key saves for: another store is left alone', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const given = { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', EMBEDDING_MODEL: 'none' }
    const server = await startServer({ DATA_DIR: directory }, { restart: begun, given })
    const key = { name: 'A', scopes: ['admin'] }
    const created = await server.request('/admin/keys', { body: key })
    const { secret } = ApiKeyCreated.parse(await created.json())
    const other = join(directory, 'other')
    await writeFile(join(directory, '.env'), `DATA_DIR=${other}\n`)
    const { digest } = Settings.parse(await (await server.request('/admin/settings')).json())
    const saved = await server.request('/admin/settings', {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}` },
      body: { basedOn: digest, set: { TOP_K: '9' } },
    })
    expect(saved.status).toBe(200)
    expect(await readdir(directory)).not.toContain('other')
    await symlink(directory, other)
    expect((await restart(server)).status).toBe(202)
  })

  it.skipIf(multilingualInstalled)(
    'is refused with an embedder that is missing, which a key cannot save, either (needs one that is missing)',
    async () => {
      const created = await server.request('/admin/keys', {
        body: { name: 'A', scopes: ['admin'] },
      })
      const { secret } = ApiKeyCreated.parse(await created.json())
      const { digest } = Settings.parse(await (await server.request('/admin/settings')).json())
      const saved = await server.request('/admin/settings', {
        method: 'PATCH',
        headers: { authorization: `Bearer ${secret}` },
        body: { basedOn: digest, set: { EMBEDDING_MODEL_NEXT: 'builtin-multilingual' } },
      })
      expect(await failureOf(saved)).toMatchObject({
        status: 400,
        param: 'set.EMBEDDING_MODEL_NEXT',
        message: expect.stringContaining('not installed'),
      })
      await writeFile(join(directory, '.env'), 'EMBEDDING_MODEL_NEXT=builtin-multilingual\n')
      expect(await failureOf(await restart(server))).toMatchObject({
        code: 'not_startable',
        message: expect.stringContaining('not installed'),
      })
      expect(begun).not.toHaveBeenCalled()
    },
  )

  it('is refused with another model than that of the vectors', onlyLong, async () => {
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
    const key = { name: 'A', scopes: ['admin'] }
    const created = await server.request('/admin/keys', { body: key })
    const { secret } = ApiKeyCreated.parse(await created.json())
    const saved = await server.request('/admin/settings', {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}` },
      body: { basedOn: hash('sha256', ''), set: { EMBEDDING_MODEL: 'new' } },
    })
    expect(await failureOf(saved)).toMatchObject({ status: 400, param: 'set.EMBEDDING_MODEL' })
    await writeFile(join(directory, '.env'), 'EMBEDDING_MODEL=new\nEMBEDDING_API_KEY=key\n')
    expect(await failureOf(await restart(server))).toMatchObject({
      code: 'not_startable',
      message: expect.stringMatching(/embedded with "old".*re-embed/),
    })
    expect(begun).not.toHaveBeenCalled()
  })
})
