import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it, vi } from 'vitest'
import { createPostgresStore } from '../../../packages/stores/src/postgres/postgres-store.ts'
import {
  createExpectedDocuments,
  type ExpectedDocuments,
} from '../../e2e/crash/expected-documents.ts'
import { createSeededRandom } from '../../e2e/crash/seeded-random.ts'
import { expectSettled } from '../../e2e/crash/verify.ts'
import { verifies } from '../../requirements.ts'
import { hasPostgresEngine, startPostgresEngine } from '../../support/postgres-engine.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import type { TestServer } from '../../support/server.ts'
import { defaults, launch, startServerProcess } from '../../support/server-process.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { expectEachOnce, SETTLING_MS, waitUntilIdle } from './settling.ts'
import { runSql } from './store-data.ts'

const RESTARTS = 3
const BETWEEN_RESTARTS_MS = 1_500
const CONCURRENCY = 4
const PASSWORD = 'a-password-that-nobody-may-see'
const CLAIMED = 'SELECT claim FROM agent_server.jobs WHERE claim IS NOT NULL'
const PATIENT = { milliseconds: 60_000 }

const withPassword = (url: string) => Object.assign(new URL(url), { password: PASSWORD }).href

/** Starts the server where its database is away; it says that it waits. */
async function launchWithout(url: string) {
  const qdrant = await startFakeQdrant()
  const environment = { ...defaults(), DATABASE_URL: withPassword(url), QDRANT_URL: qdrant.url }
  const launched = launch({ directory: await temporaryDirectory(), environment })
  await launched.said(/waiting for PostgreSQL/)
  return launched
}

/** Adds documents until it is told to stop; what is answered 503 may have been stored or not. */
async function addUntil(
  stop: AbortSignal,
  server: TestServer,
  expected: ExpectedDocuments,
): Promise<void> {
  const runWorker = async () => {
    while (!stop.aborted) {
      const entry = expected.begin()
      const body = { text: entry.text, title: entry.token }
      const response = await server.request('/documents', { body })
      expect([202, 503]).toContain(response.status)
      if (response.status === 202) {
        entry.id = DocumentCreated.parse(await response.json()).id
        entry.standing = 'kept'
      }
      await pause(50)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, runWorker))
}

describe.skipIf(!hasPostgresEngine)(
  'A server whose PostgreSQL is away at its start (needs PostgreSQL, as root)',
  () => {
    it(
      'waits for it, says so without the password, and serves when it is there',
      verifies('shared.start'),
      async () => {
        const engine = await startPostgresEngine()
        await engine.stop()
        const launched = await launchWithout(engine.url)
        expect(launched.log().filter(({ msg }) => msg.startsWith('waiting'))).toMatchObject([
          {
            msg: 'waiting for PostgreSQL, for 60 s at most',
            database: `PostgreSQL at 127.0.0.1:${new URL(engine.url).port}/postgres`,
            reason: 'nothing is listening at its address',
          },
        ])
        expect(launched.stdout).not.toContain('listening at http')
        await engine.start()
        const line = await launched.said(/listening at http/)
        const [url = ''] = /http:\/\/[\d.:]+/.exec(line) ?? []
        const readiness = async () => (await fetch(`${url}/readiness`)).status
        await expect.poll(readiness, { timeout: 20_000 }).toBe(200)
        expect(launched.stdout + launched.stderr).not.toContain(PASSWORD)
      },
    )

    it('leaves at once when it is told to stop meanwhile', async () => {
      const engine = await startPostgresEngine()
      await engine.stop()
      const launched = await launchWithout(engine.url)
      launched.send('SIGTERM')
      expect(await launched.exited).toEqual({ code: 0, signal: null })
      expect(launched.stderr).toBe('SIGTERM: stopped before the server was ready\n')
    })

    it(
      'gives up when its time is over, and names the database and the reason',
      verifies('shared.start'),
      async () => {
        const engine = await startPostgresEngine()
        await engine.stop()
        const lines: object[] = []
        const opening = createPostgresStore({
          url: withPassword(engine.url),
          poolSize: 2,
          queueLimit: 9,
          deadline: { milliseconds: 5_000 },
          log: { info: () => undefined, warn: (fields) => void lines.push(fields) },
        })
        await expect(opening).rejects.toMatchObject({
          code: 'store_unavailable',
          message: expect.stringMatching(
            /^PostgreSQL at 127\.0\.0\.1:\d+\/postgres is unavailable, after \d+ s: nothing is listening at its address$/,
          ),
        })
        expect(lines.length).toBeGreaterThan(1)
        expect(JSON.stringify(lines)).not.toContain(PASSWORD)
      },
    )

    it('does not wait for a failure that only a person can repair', async () => {
      const engine = await startPostgresEngine()
      const log = { info: () => undefined, warn: () => expect.unreachable('it waits') }
      const open = (url: string) =>
        createPostgresStore({ url, poolSize: 2, queueLimit: 9, deadline: PATIENT, log })
      await expect(open(engine.url.replace(/postgres$/, 'nowhere'))).rejects.toThrow(
        /\/nowhere is unavailable: there is no such database$/,
      )
      const rules = join(await temporaryDirectory(), 'pg_hba.conf')
      await writeFile(rules, 'host all agent 127.0.0.1/32 scram-sha-256\n')
      await runSql(engine.url, `ALTER USER agent PASSWORD 'another'`)
      await engine.adopt(rules, 'pg_hba.conf')
      await runSql(engine.url, 'SELECT pg_reload_conf()')
      await expect(open(withPassword(engine.url))).rejects.toThrow(/: it refuses the password$/)
      await expect(open(engine.url)).rejects.toThrow(/: it requires a password$/)
      const stranger = withPassword(engine.url).replace('agent', 'stranger')
      await expect(open(stranger)).rejects.toThrow(/: it does not allow this user from here/)
    })
  },
)

describe.skipIf(!hasPostgresEngine)('A server (needs PostgreSQL, as root)', () => {
  it(`loses nothing and doubles nothing when PostgreSQL crashes and starts again, ${RESTARTS} times, in mid-ingestion`, {
    timeout: 2 * SETTLING_MS,
    ...verifies('shared.once', 'shared.outage'),
  }, async () => {
    const engine = await startPostgresEngine()
    const qdrant = await startFakeQdrant()
    const server = await startServerProcess({ DATABASE_URL: engine.url, QDRANT_URL: qdrant.url })
    const sql = (text: string) => runSql(engine.url, text)
    const expected = createExpectedDocuments(createSeededRandom(Date.now() % 1_000_000))
    const stop = new AbortController()
    const adding = addUntil(stop.signal, server, expected)
    for (let restart = 0; restart < RESTARTS; restart++) {
      await pause(BETWEEN_RESTARTS_MS)
      await vi.waitUntil(async () => (await sql(CLAIMED)).length > 0, { timeout: 20_000 })
      await engine.crashAndRestart()
    }
    await pause(BETWEEN_RESTARTS_MS)
    stop.abort()
    await adding
    expect(expected.in('kept').length).toBeGreaterThan(RESTARTS * CONCURRENCY)

    await waitUntilIdle(server)
    await expectSettled(server, expected)
    await expectEachOnce({ sql })
    expect(server.stdout.match(/listening at http/g)).toHaveLength(1)
    expect(qdrant.mistakes).toEqual([])
  })
})
