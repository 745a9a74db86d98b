// @module-tag long
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { moveTimes } from '../support/age.ts'
import { isLong } from '../support/long.ts'
import { startServer, type TestServer } from '../support/server.ts'

const DAY_MS = 86_400_000
const WEEKS = 5
const DOCUMENTS = isLong ? 2_000 : 100
/** In all weeks together. */
const REQUESTS = isLong ? 20_000 : 600
const AT_ONCE = 8
/** A run takes some 15 kB, whatever the documents: of few documents, few are kept. */
const RUNS_KEPT = String(DOCUMENTS / 10)
const PARAGRAPH = 'Herons wait at the bank of the river until a fish comes near. '

/** Of the same length in each revision. */
const textOf = (n: number, revision: number) =>
  `Heron ${n} of revision ${revision}. ${PARAGRAPH.repeat(20 + (n % 200))}`

async function all(count: number, work: (n: number) => Promise<Response>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n).values()
  const worker = async () => {
    for (const n of numbers) {
      const response = await work(n)
      await response.text()
      expect(response.status).toBeLessThan(300)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

const put = ({ request }: TestServer, revision: number) =>
  all(DOCUMENTS, (n) =>
    request(`/documents/heron-${n}?wait=60`, {
      method: 'PUT',
      body: { text: textOf(n, revision) },
    }),
  )

/** Mostly searches; some answers, and responses that are kept. */
const ask = ({ request }: TestServer, count: number) =>
  all(count, (n) => {
    const question = `Where does heron ${n % DOCUMENTS} wait?`
    const messages = [{ role: 'user', content: question }]
    if (n % 200 === 0)
      return request('/v1/responses', { body: { model: 'agent', input: question } })
    if (n % 5 === 0) return request('/chat', { body: { messages } })
    return request('/query', { body: { query: question } })
  })

/** A week in which a server does this, after which its data are as old as a week. */
async function week(directory: string, work: (server: TestServer) => Promise<void>) {
  const server = await startServer({ DATA_DIR: directory, RUNS_KEPT })
  await work(server)
  await server.close()
  const file = join(directory, 'agent-server.db')
  moveTimes(file, -7 * DAY_MS)
  using database = new DatabaseSync(file)
  // It has been right for long, so that what is old goes.
  database.exec(`INSERT INTO meta VALUES ('clock_seen', ${Date.now()}), ('clock_since', 0)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
}

async function place(): Promise<string> {
  const directory = join(tmpdir(), `agent-server-${randomUUID()}`)
  await mkdir(directory)
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const sizeOf = (directory: string) =>
  Number.parseInt(execFileSync('du', ['-sk', directory], { encoding: 'utf8' }), 10)

it(`After five weeks of ${REQUESTS} requests, in which ${DOCUMENTS} documents are changed twice, data take a fifth more than a fresh import at most`, {
  timeout: 600_000,
}, async () => {
  const [used, fresh] = [await place(), await place()]
  for (let n = 0; n < WEEKS; n += 1) {
    await week(used, async (server) => {
      if (n < 3) await put(server, n)
      await ask(server, REQUESTS / WEEKS)
    })
  }
  await week(fresh, async (server) => {
    await put(server, 2)
    await ask(server, REQUESTS / WEEKS)
  })
  const [after, before] = [sizeOf(used), sizeOf(fresh)]
  expect(after / before).toBeLessThan(1.2)
})
