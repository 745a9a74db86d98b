// @module-tag long
import { hash } from 'node:crypto'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { LineResult } from '@agent-server/schemas/document-batch.ts'
import { Settings } from '@agent-server/schemas/operator/admin.ts'
import { describe, expect, it } from 'vitest'
import { inventoryOf } from '../support/frozen/inventory.ts'
import { frozenSettings } from '../support/frozen/open.ts'
import { INVENTORY, thawed } from '../support/frozen/thaw.ts'
import { search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { readMetrics } from '../support/metrics.ts'
import type { TestServer } from '../support/server.ts'
import {
  defaults,
  launch,
  MAIN,
  type ServerProcess,
  startServerProcess,
} from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { SECOND_VERSION, THIRD_VERSION } from '../support/versions/coming.ts'
import { makeVersion, VERSION } from '../support/versions/make-version.ts'

/** By hand 100,000 and 100. */
const DOCUMENTS = Number(process.env.UPGRADE_DOCUMENTS ?? 2_000)
const KILLS = Number(process.env.UPGRADE_KILLS ?? 10)
const ANSWERS_MS = 60_000
/** Documents of one request. */
const LINES = 5_000
/** One of so many is asked for. */
const ASKED = 50
const CHECKED_EVERY = 10
const MINUTES = 60_000 * (10 + (DOCUMENTS * KILLS) / 100_000)
const POLL_MS = 20

const FIRST = MAIN
const SECOND = await makeVersion(await temporaryDirectory(), SECOND_VERSION)
const THIRD = await makeVersion(await temporaryDirectory(), THIRD_VERSION)

const FILE = 'agent-server.db'
const commandOf = (main: string) => [process.execPath, main] as const

const start = (main: string, directory: string, environment: Record<string, string> = {}) =>
  startServerProcess(
    { DATA_DIR: directory, ...environment },
    { directory, command: commandOf(main), until: 'listening' },
  )

/** A word of this document alone. */
const wordOf = (n: number) => `owl${n.toString(36).padStart(4, '0')}x`
const textOf = (n: number) => `The ${wordOf(n)} hunts at night, and sleeps by day.`

/** A folder that 0.1 has filled. */
async function filled(): Promise<string> {
  const directory = join(await temporaryDirectory(), 'data')
  const server = await startServerProcess(
    { DATA_DIR: directory, INGEST_QUEUE_LIMIT: String(DOCUMENTS) },
    { directory: await temporaryDirectory() },
  )
  for (let from = 0; from < DOCUMENTS; from += LINES) {
    const count = Math.min(LINES, DOCUMENTS - from)
    const lines = Array.from({ length: count }, (_, n) =>
      JSON.stringify({ id: `owl-${from + n}`, text: textOf(from + n) }),
    )
    const response = await server.request('/documents/batch', {
      body: `${lines.join('\n')}\n`,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    const results = (await response.text()).trim().split('\n')
    for (const line of results) expect(LineResult.parse(JSON.parse(line))).toHaveProperty('id')
  }
  await expect.poll(() => readyOn(server), { timeout: MINUTES, interval: 500 }).toBe(DOCUMENTS)
  await server.stop()
  return directory
}

const readyOn = async (server: TestServer) =>
  (await readMetrics(server)).get('agent_server_documents{status="ready"}')

/** Asks until the index is complete. Answers when it first answered, and what it refused after that. */
async function askWhileRebuilt(server: ServerProcess, started: number) {
  let answeredMs: number | undefined
  const refused: string[] = []
  let asked = 0
  for (let isReady = false; !isReady; ) {
    isReady = (await server.request('/readiness')).ok
    const response = await server.request('/query', { body: { query: 'hunts at night' } })
    const answer = await response.text()
    asked += 1
    if (response.ok) answeredMs ??= performance.now() - started
    else if (answeredMs === undefined) expect(answer).toContain('"index_not_ready"')
    else refused.push(answer)
    await pause(POLL_MS)
  }
  return { answeredMs, refused, asked, readyMs: performance.now() - started }
}

async function expectWhole(server: TestServer, count: number): Promise<void> {
  await expect.poll(() => readyOn(server), { timeout: ANSWERS_MS }).toBe(count)
  const step = Math.max(1, Math.floor(count / ASKED))
  for (let n = 0; n < count; n += step) {
    expect((await search(server, wordOf(n)))[0]).toMatchObject({ text: textOf(n) })
    const text = await server.request(`/documents/owl-${n}/text`)
    expect(await text.text()).toBe(textOf(n))
  }
}

function versionOf(directory: string) {
  using database = new DatabaseSync(join(directory, FILE), { readOnly: true })
  return {
    schema: Number(database.prepare('PRAGMA user_version').get()?.user_version),
    program: String(database.prepare('SELECT program FROM schema_version').get()?.program),
    state: String(database.prepare('PRAGMA quick_check').get()?.quick_check),
    documents: Number(database.prepare('SELECT count(*) AS n FROM documents').get()?.n),
  }
}

async function killSoon(main: string, directory: string, afterMs: number): Promise<void> {
  const environment = { ...defaults(), DATA_DIR: directory }
  const server = launch({ directory, environment, command: commandOf(main) })
  await pause(afterMs)
  server.send('SIGKILL')
  await server.exited
}

/** The next start is whole, and so is the one after another kill. */
async function expectGoesOn(directory: string): Promise<void> {
  const next = await start(THIRD, directory)
  await askWhileRebuilt(next, performance.now())
  await expectWhole(next, DOCUMENTS)
  const body = { text: textOf(DOCUMENTS) }
  const stored = await next.request(`/documents/owl-${DOCUMENTS}`, { method: 'PUT', body })
  expect(stored.ok).toBe(true)
  await next.crash()
  const again = await start(THIRD, directory)
  await askWhileRebuilt(again, performance.now())
  await expectWhole(again, DOCUMENTS + 1)
  const path = `/documents/owl-${DOCUMENTS}`
  expect((await again.request(path, { method: 'DELETE' })).status).toBe(204)
  await again.stop()
}

const formsOf = (directory: string) => {
  using database = new DatabaseSync(join(directory, FILE), { readOnly: true })
  const query = 'SELECT DISTINCT substr(body, 1, 2) AS form FROM chunks ORDER BY 1'
  return database
    .prepare(query)
    .all()
    .map(({ form }) => form)
}

describe('The data that 0.1.0 wrote', { timeout: MINUTES }, () => {
  it.each([
    ['0.3.0', [THIRD]],
    ['0.2.0 and then 0.3.0', [SECOND, THIRD]],
  ] as const)(
    'are whole after an upgrade to %s, and an older server leaves them alone',
    async (_name, mains) => {
      const directory = await thawed()
      const settings = await frozenSettings({ DATA_DIR: directory })
      for (const main of mains) {
        const server = await startServerProcess(settings, { directory, command: commandOf(main) })
        expect(await inventoryOf(server)).toEqual(JSON.parse(await readFile(INVENTORY, 'utf8')))
        expect(await server.stop()).toMatchObject({ code: 0 })
      }
      expect(formsOf(directory)).toEqual(['v3'])
      const before = hash('sha256', await readFile(join(directory, FILE)))
      const older = launch({
        directory,
        environment: { ...defaults(), ...settings },
        command: commandOf(FIRST),
      })
      // It stays, to show why it does not work.
      await older.said(/the server is not running/)
      expect(older.stderr).toMatch(
        new RegExp(
          `a newer server, version 0.3.0 \\(schema \\d+; this is ${VERSION}, .*is unchanged`,
        ),
      )
      older.send('SIGTERM')
      await older.exited
      expect(hash('sha256', await readFile(join(directory, FILE)))).toBe(before)
    },
  )
})

describe('Settings and fields that two versions rename', { timeout: MINUTES }, () => {
  it('work under the names that 0.1.0 had, and each is told once', onlyLong, async () => {
    for (const [main, setting, field] of [
      [SECOND, 'PASSAGES', 'calls'],
      [THIRD, 'FOUND_PASSAGES', 'callsOfTools'],
    ] as const) {
      const directory = await temporaryDirectory()
      const agent = join(directory, 'agent.json')
      const limits = { limits: { toolCalls: 3 } }
      await writeFile(agent, JSON.stringify({ ...limits, agents: { desk: limits } }))
      const environment = { TOP_K: '7', AGENT_CONFIG: agent }
      const server = await start(main, directory, environment)
      const { settings } = Settings.parse(await (await server.request('/admin/settings')).json())
      expect(settings.find(({ name }) => name === setting)?.value).toBe('7')
      const told = (name: string) =>
        server.log().filter(({ msg }) => msg.includes(`is called ${name} now`)).length
      expect([told(setting), told(field)]).toEqual([1, 2])
      await server.close()
    }
  })
})

describe(`An upgrade of ${DOCUMENTS} documents`, { timeout: MINUTES }, () => {
  it(
    'answers within a minute and while the index is built, is whole, step by step and at once',
    onlyLong,
    async () => {
      const original = await filled()
      for (const mains of [[SECOND, THIRD], [THIRD]]) {
        const directory = join(await temporaryDirectory(), 'data')
        await cp(original, directory, { recursive: true })
        for (const main of mains) {
          const started = performance.now()
          const server = await start(main, directory)
          const { answeredMs, refused, asked, readyMs } = await askWhileRebuilt(server, started)
          process.stderr.write(
            `${main === SECOND ? '0.2' : '0.3'} after ${mains.length} step(s): answers after ${Math.round(answeredMs ?? 0)} ms, ready after ${Math.round(readyMs)} ms, ${asked} times asked\n`,
          )
          expect(refused).toEqual([])
          expect(answeredMs).toBeLessThan(ANSWERS_MS)
          await expectWhole(server, DOCUMENTS)
          expect((await server.stop()).code).toBe(0)
        }
        expect(formsOf(directory)).toEqual(['v3'])
        expect(versionOf(directory)).toMatchObject({ program: '0.3.0', state: 'ok' })
      }
    },
  )

  it(
    `killed at ${KILLS} moments, loses nothing that was acknowledged, and the next start goes on`,
    onlyLong,
    async () => {
      const original = await filled()
      const { schema } = versionOf(original)
      const directory = join(await temporaryDirectory(), 'data')
      const begin = async () => {
        await rm(directory, { recursive: true, force: true })
        await cp(original, directory, { recursive: true })
      }
      await begin()
      const started = performance.now()
      const whole = await start(SECOND, directory)
      await askWhileRebuilt(whole, started)
      const fullMs = performance.now() - started
      await whole.close()
      await begin()
      const moved: number[] = []
      for (let kill = 0; kill < KILLS; kill += 1) {
        await killSoon(kill % 2 === 0 ? SECOND : THIRD, directory, Math.random() * fullMs)
        const left = versionOf(directory)
        expect(left).toMatchObject({ state: 'ok', documents: DOCUMENTS })
        moved.push(left.schema - schema)
        if (kill % CHECKED_EVERY === CHECKED_EVERY - 1) await expectGoesOn(directory)
        // What was not moved yet meets the next kill; so does every third that was.
        if (left.schema > schema && kill % 3 > 0) await begin()
      }
      expect(moved.filter((steps) => ![0, 1, 2].includes(steps))).toEqual([])
      const before = moved.filter((steps) => steps === 0).length
      process.stderr.write(
        `${before} of ${KILLS} kills before the schema was moved, a whole start takes ${Math.round(fullMs)} ms\n`,
      )
    },
  )
})
