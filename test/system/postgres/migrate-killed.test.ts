import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostgresCorpus } from '../../../packages/stores/src/postgres/corpus.ts'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import { PATIENCE, readPoints, startQdrant } from '../../support/qdrant/nodes.ts'
import { TEST_KEY } from '../../support/server.ts'
import { launch } from '../../support/server-process.ts'
import { fillStore } from './fill-store.ts'
import { createPostgresData, hasPostgres, type PostgresData } from './store-data.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const DOCUMENTS = 1_500
const CHUNKS = 2 * DOCUMENTS
const KILLS_WHILE_COPYING = 4
const KILLS_WHILE_INDEXING = 2
/** Up to so long after a step has been seen is the process killed; the first time at once, so that it is not done by then. */
const LATER_MS = 300
const POLL_MS = 10
const MINUTES = 5 * 60_000 * PATIENCE
const CONNECTED = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`
const { signal } = new AbortController()

interface Destination {
  data: PostgresData
  qdrant: Awaited<ReturnType<typeof startQdrant>>
}

async function createSource(): Promise<string> {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  const store = await data.open({ queueLimit: 10_000 })
  await fillStore(store, DOCUMENTS)
  await store.close()
  return data.directory
}

async function createDestination(): Promise<Destination> {
  const data = await createPostgresData()
  onTestFinished(() => data.remove())
  return { data, qdrant: await startQdrant() }
}

function migrate(directory: string, { data, qdrant }: Destination) {
  return launch({
    directory,
    environment: { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', DATA_DIR: directory },
    command: [process.execPath, MAIN, 'migrate', '--to', data.url, '--index', qdrant.url],
  })
}

/** How many documents were copied, as far as that survives; nothing before the copy has begun or after its end. */
async function copied({ data }: Destination): Promise<number | undefined> {
  const [row] = await data.sql('SELECT documents FROM agent_server.moves').catch(() => [])
  return row && Number(row.documents)
}

/** In the order of their keys. */
const pointsOf = ({ qdrant }: Destination, kind: 'terms' | 'vectors') =>
  readPoints(qdrant.url, `agent-server-${kind}-1`, ...(kind === 'vectors' ? [kind] : []))

/** Kills a run once `hasGoneOn` answers true, or a little later. Answers whether it ended before by itself, and what it told. */
async function killOnce(
  run: ReturnType<typeof migrate>,
  hasGoneOn: () => Promise<boolean>,
  laterMs = LATER_MS,
) {
  let ended = false
  void run.exited.then(() => {
    ended = true
  })
  while (!ended && !(await hasGoneOn())) await pause(POLL_MS)
  await pause(Math.random() * laterMs)
  run.send('SIGKILL')
  await run.exited
  return run.stderr
}

/** Kills one run after the other, each once it has copied more than those before. Answers how much is copied. */
async function killWhileCopying(directory: string, destination: Destination): Promise<number> {
  let before = 0
  for (let kill = 0; kill < KILLS_WHILE_COPYING; kill++) {
    const hasGoneOn = async () => ((await copied(destination)) ?? 0) > before
    const laterMs = before === 0 ? 0 : LATER_MS
    const output = await killOnce(migrate(directory, destination), hasGoneOn, laterMs)
    // What it has sent is written all the same.
    await expect.poll(() => destination.data.sql(CONNECTED)).toEqual([])
    if (before > 0) expect(output).toContain(`Continuing after ${before} documents`)
    const now = await copied(destination)
    if (now === undefined) break
    before = now
  }
  return before
}

describe.skipIf(!hasPostgres)('npm run migrate that is killed (needs PostgreSQL)', () => {
  it(
    'goes on where it was, says so, and ends as one that was left alone',
    async () => {
      const directory = await createSource()
      const [alone, killed] = [await createDestination(), await createDestination()]
      expect((await migrate(directory, alone).exited).code).toBe(0)

      expect(await killWhileCopying(directory, killed)).toBeGreaterThan(0)
      for (let kill = 0; kill < KILLS_WHILE_INDEXING; kill++) {
        const held = (await pointsOf(killed, 'terms')).length
        await killOnce(migrate(directory, killed), async () => {
          return (await pointsOf(killed, 'terms')).length > held
        })
      }
      const last = migrate(directory, killed)
      expect(await last.exited).toMatchObject({ code: 0 })
      expect(last.stderr).toContain('Everything was copied')

      const records = ({ data }: Destination) =>
        Array.fromAsync(createPostgresCorpus(data.url).readCorpus(signal))
      expect(await records(killed)).toEqual(await records(alone))
      for (const kind of ['terms', 'vectors'] as const) {
        const points = await pointsOf(killed, kind)
        expect(points).toHaveLength(CHUNKS)
        expect(points).toEqual(await pointsOf(alone, kind))
      }
      expect([...alone.qdrant.mistakes, ...killed.qdrant.mistakes]).toEqual([])
    },
    MINUTES,
  )
})
