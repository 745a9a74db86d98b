import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { everything } from '@agent-server/lib/visibility.ts'
import { expect, it } from 'vitest'
import { isLong, onlyLong } from '../../../../test/support/long.ts'
import { createSqliteData, type SqliteData } from './store-data.ts'

const PROGRAM = fileURLToPath(new URL('./ingest-until-killed.ts', import.meta.url))
const CYCLES = isLong ? 8 : 3
const MAX_STEPS_PER_CYCLE = 400

/** What the killed processes have said. */
interface Reported {
  added: Set<string>
  /** The first of three chunk keys, by document. */
  ready: Map<string, number>
  deleting: Set<string>
  deleted: Set<string>
  keys: number[]
}

it(
  `loses nothing and uses no key twice when it is killed ${CYCLES} times at random moments`,
  onlyLong,
  async () => {
    const data = await createSqliteData()
    const reported: Reported = {
      added: new Set(),
      ready: new Map(),
      deleting: new Set(),
      deleted: new Set(),
      keys: [],
    }
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await runUntilKilled(data.directory, `cycle${cycle}`, reported)
      await expectKept(data, reported)
      expectSound(data)
    }
    expect(reported.added.size).toBeGreaterThan(CYCLES)
    expect(new Set(reported.keys).size).toBe(reported.keys.length)
    await data.remove()
  },
)

async function runUntilKilled(
  directory: string,
  prefix: string,
  reported: Reported,
): Promise<void> {
  const killAfter = Math.ceil(Math.random() * MAX_STEPS_PER_CYCLE)
  const child = spawn(process.execPath, [PROGRAM, directory, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let steps = 0
  for await (const line of createInterface({ input: child.stdout })) {
    note(line, reported)
    steps += 1
    if (steps === killAfter) child.kill('SIGKILL')
  }
  expect(await exited).toEqual([null, 'SIGKILL'])
}

function note(line: string, reported: Reported): void {
  const [step, id = '', number = ''] = line.split(' ')
  if (step === 'added' || step === 'deleting' || step === 'deleted') reported[step].add(id)
  else if (step === 'ready') reported.ready.set(id, Number(number))
  else if (step === 'keys') reported.keys.push(Number(id), Number(id) + 1, Number(id) + 2)
  else throw new Error(`The program was killed in the middle of a line: ${line}`)
}

async function expectKept(data: SqliteData, reported: Reported): Promise<void> {
  const store = await data.open()
  for (const id of reported.added) {
    const document = await store.get(everything(), id)
    if (reported.deleted.has(id)) expect(document).toBeUndefined()
    else if (!reported.deleting.has(id)) expect(document).toBeDefined()
  }
  for (const [id, first] of reported.ready) {
    if (reported.deleting.has(id)) continue
    expect(await store.get(everything(), id)).toMatchObject({ status: 'ready', chunkCount: 3 })
    const { chunks } = await store.readChunks(everything(), [first, first + 1, first + 2])
    expect(chunks.map((chunk) => chunk.text)).toEqual(
      [0, 1, 2].map((ordinal) => `Chunk ${ordinal} of ${id}`),
    )
  }
  await store.close()
}

/** The database is whole, and the counts kept beside the rows are those of the rows. */
function expectSound(data: SqliteData): void {
  const database = data.database()
  const rows = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  expect(rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(rows('PRAGMA foreign_key_check')).toEqual([])
  const ofStatus = (status: string) =>
    `(SELECT count(*) FROM documents WHERE status = '${status}') AS ${status}`
  expect(rows('SELECT pending, processing, ready, failed, chunks, jobs FROM counts')).toEqual(
    rows(`SELECT ${['pending', 'processing', 'ready', 'failed'].map(ofStatus).join(', ')},
      (SELECT count(*) FROM chunks) AS chunks, (SELECT count(*) FROM jobs) AS jobs`),
  )
  expect(
    rows(`
      SELECT id FROM documents LEFT JOIN jobs ON document = number
      WHERE (status IN ('pending', 'processing')) <> (document IS NOT NULL)`),
  ).toEqual([])
  database.close()
}
