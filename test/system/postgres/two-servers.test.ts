import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createExpectedDocuments } from '../../e2e/crash/expected-documents.ts'
import { createSeededRandom } from '../../e2e/crash/seeded-random.ts'
import { expectKept, expectSettled } from '../../e2e/crash/verify.ts'
import { populate, workUntilGone } from '../../e2e/crash/work.ts'
import { verifies } from '../../requirements.ts'
import { failureOf } from '../../support/failure.ts'
import { search } from '../../support/knowledge.ts'
import { isLong } from '../../support/long.ts'
import { PATIENCE, startQdrant } from '../../support/qdrant/nodes.ts'
import { settledDocument, type TestServer } from '../../support/server.ts'
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { expectEachOnce, SETTLING_MS, waitUntilIdle } from './settling.ts'
import { createPostgresData, hasPostgres, SERVER_URL } from './store-data.ts'

/** `CRASH_SEED` repeats a run. Each kill takes a start, of three seconds of a processor. */
const KILLS = Number(process.env.CRASH_CYCLES ?? (isLong ? 6 : 4))
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const DOCUMENTS = 30
const MAX_WORK_MS = 1_200
const KILL_MS = 30_000
const MINUTES = 2 * 60_000 * PATIENCE
const BETWEEN_WORK_MS = 50
const SPREAD = { QDRANT_SHARDS: '3', QDRANT_REPLICAS: '2' }

/** A database and an index that servers share, and a way to start one on them. */
async function startShared() {
  const data = await createPostgresData()
  onTestFinished(() => data.remove())
  const qdrant = await startQdrant(3)
  const environment = {
    DATABASE_URL: data.url,
    QDRANT_URL: qdrant.url,
    QDRANT_TIMEOUT: '10',
    ...SPREAD,
  }
  const start = (more: Record<string, string> = {}) =>
    startServerProcess({ ...environment, ...more })
  return { data, qdrant, start }
}

/** The server, to clients that take breath between their requests. */
function unhurried(server: ServerProcess): TestServer {
  return {
    ...server,
    async request(path, options) {
      await pause(BETWEEN_WORK_MS)
      return server.request(path, options)
    },
  }
}

describe.skipIf(!hasPostgres)(
  'Two servers on one database and one index (needs PostgreSQL)',
  () => {
    it(`lose nothing and double nothing when either is killed, ${KILLS} times (CRASH_SEED=${SEED})`, {
      timeout: PATIENCE * (KILLS * KILL_MS + 2 * SETTLING_MS),
      ...verifies('shared.once'),
    }, async () => {
      const { data, qdrant, start } = await startShared()
      const random = createSeededRandom(SEED)
      const expected = createExpectedDocuments(random)
      const begin = async () => {
        const server = await start()
        const working = workUntilGone({
          server: unhurried(server),
          expected,
          random,
          documents: DOCUMENTS,
        })
        return {
          async kill() {
            await server.crash()
            await working
          },
        }
      }

      const first = await start()
      await populate({ server: first, expected, documents: DOCUMENTS })
      await first.crash()
      // The other one works while one starts, and may be killed meanwhile.
      const pair = [begin(), begin()]
      for (let kill = 0; kill < KILLS; kill++) {
        await pause(random.between(0, MAX_WORK_MS))
        const victim = random.between(0, 1)
        await (await pair[victim])?.kill()
        pair[victim] = begin()
      }
      for (const each of pair) await (await each).kill()
      // Nobody is left who would renew them: as if half a minute had passed.
      await data.sql('UPDATE agent_server.jobs SET due_at = due_at - 30000 WHERE claim IS NOT NULL')

      const servers = await Promise.all([start(), start()])
      for (const server of servers) {
        await waitUntilIdle(server)
        // First of all, what became of requests without an answer.
        await expectKept(server, expected)
        await expectSettled(server, expected)
      }
      await expectEachOnce(data)
      expect(qdrant.mistakes).toEqual([])
      for (const { stderr } of servers) expect(stderr).toBe('')
    })

    it('see at once what the other was sent, and answer a wait for it', {
      timeout: MINUTES,
      ...verifies('shared.same'),
    }, async () => {
      const { start } = await startShared()
      const [one, other] = await Promise.all([start(), start()])
      for (const [from, to] of [
        [one, other],
        [other, one],
      ] as const) {
        const title = `Sent to ${from === one ? 'one' : 'other'}`
        const body = { title, text: `${title}: otters hold hands while they sleep.` }
        const created = await from.request('/documents?wait=30', { body })
        expect(await created.json()).toMatchObject({ status: 'ready' })
        expect((await search(to, title))[0]).toMatchObject({ title })
        // Each follows the statistics of terms by itself.
        const both = () => Promise.all([search(from, title), search(to, title)])
        await expect
          .poll(async () => new Set((await both()).map((hits) => JSON.stringify(hits))).size)
          .toBe(1)
      }
    })

    it('answer 503 while the database is away, name it, and go on by themselves', {
      timeout: MINUTES,
      ...verifies('shared.outage'),
    }, async () => {
      const { data, start } = await startShared()
      const { hostname: host, port } = new URL(SERVER_URL)
      const proxy = await startTcpProxy({ host, port: Number(port) })
      const url = Object.assign(new URL(data.url), {
        port: String(proxy.port),
        password: 's3cr3t',
      })
      const server = await start({ DATABASE_URL: url.href })
      const id = await server.ingest({ title: 'Otters', text: 'Otters hold hands.' })

      proxy.set('cut')
      for (const [path, body] of [
        ['/query', { query: 'otters' }],
        ['/documents', { text: 'Beavers build dams.' }],
        [
          '/v1/chat/completions',
          { stream: false, messages: [{ role: 'user', content: 'Otters?' }] },
        ],
      ] as const) {
        const failure = await failureOf(await server.request(path, { body }))
        expect([path, failure.status, failure.code]).toEqual([path, 503, 'store_unavailable'])
        expect(Number(failure.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      const readiness = await server.request('/readiness')
      expect(readiness.status).toBe(503)
      expect(await readiness.json()).toMatchObject({ checks: { store: { state: 'failed' } } })

      proxy.set('pass')
      await vi.waitFor(async () => expect((await fetch(`${server.url}/readiness`)).ok).toBe(true), {
        timeout: 20_000,
      })
      expect(await settledDocument(server.request, id)).toMatchObject({ status: 'ready' })
      expect(await search(server, 'otters')).toHaveLength(1)
      await server.ingest({ title: 'Beavers', text: 'Beavers build dams.' })
      expect(server.stdout).not.toContain('s3cr3t')
    })
  },
)
