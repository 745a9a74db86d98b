import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { createArtifacts } from '../../src/sql/artifacts.ts'
import { createConversationReads } from '../../src/sql/conversations.ts'
import { NO_LEASE_MS } from '../../src/sql/jobs.ts'
import type { Read } from '../../src/sql/query.ts'
import { callsOf, createWrites } from '../../src/sql/writes.ts'
import { createRunner, openForWriting } from '../../src/sqlite/connection.ts'
import { SQLITE } from '../../src/sqlite/dialect.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { WriteQueue } from '../../src/sqlite/write-queue.ts'
import { GroupRunner } from '../../src/sqlite/writes.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR

/** A database with an old conversation, whose clock and the process's own time the test sets. */
async function open() {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const database = openForWriting(join(await temporaryDirectory(), 'clock.db'))
  onTestFinished(() => database.close())
  migrate(database)
  const { all } = createRunner(database)
  const read: Read = async (statement, values) => all(statement, values)

  /** What a process does that opens the database now. */
  const start = () => {
    const writes = createWrites(SQLITE, 9)
    const groups = new GroupRunner(database, writes)
    const queue = new WriteQueue({ send: (group) => groups.run(group) })
    return callsOf(writes, (each) => queue.write(each))
  }
  let write = start()
  let conversations = 0

  return {
    restart() {
      write = start()
    },
    /** Time goes by, and so does the clock; the server is asked whether it works every 30 minutes. */
    async wait(milliseconds: number) {
      for (let left = milliseconds; left > 0; left -= HOUR / 2) {
        vi.advanceTimersByTime(Math.min(left, HOUR / 2))
        await write.check()
      }
    },
    turnClock: (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds),
    jumpMs: async () => (await write.check()).jumpMs,
    begin: (id: string) =>
      write.addConversation({ id, owner: undefined, title: 't', metadata: {} }),
    /** How long ago an answer in the conversation was written last. */
    async silenceIn(id: string, item: string) {
      const of = { id, owner: undefined, item }
      return (await createConversationReads(read, SQLITE).item(of))?.silentMs
    },
    answer: (id: string, item: string) =>
      write.addItems({ id, owner: undefined }, { items: [{ id: item, json: '{}' }], isOpen: true }),
    /** Whether a key that expires then is removed as one that did so two hours ago. */
    async removesKey(expiresAt = 2) {
      const key = { id: `k${conversations++}`, name: 'K', scopes: ['query' as const], digest: 'd' }
      await write.addKey({ ...key, createdAt: 1, expiresAt }, 100)
      return write.removeOldKey(key.id, 2 * HOUR)
    },
    add: (id: string) => write.add({ id, text: 'x' }),
    async claims() {
      const claimant = { owner: 'self', leaseMs: NO_LEASE_MS, claims: [] }
      return (await write.claimJobs(9, claimant)).map(({ documentId }) => documentId)
    },
    evaluate: (id: string) => write.beginEvaluation({ id, json: '{}', total: 1 }),
    /** Begins another conversation, which deletes expired ones, and says whether the first is there. */
    async keeps(id: string) {
      await this.begin(`${id}-${conversations++}`)
      return (
        (await createConversationReads(read, SQLITE).find({ id, owner: undefined })) !== undefined
      )
    },
    artifacts: (maximumAgeMs: number) =>
      createArtifacts(read, { ...write }, 'artifact', { maximumAgeMs }),
    rows: () => all('SELECT id FROM artifacts').length,
  }
}

it('What has expired is deleted by a clock that goes on as it should', async () => {
  const on = await open()
  await on.begin('old')
  await on.wait(HOUR)
  expect(await on.keeps('old')).toBe(true)
  await on.wait(400 * DAY)
  expect(await on.keeps('old')).toBe(false)
})

it('A clock that is 400 days on for twelve seconds deletes nothing, and is said to have jumped for an hour', async () => {
  const on = await open()
  await on.begin('old')
  await on.wait(2 * HOUR)
  expect(await on.jumpMs()).toBeUndefined()
  on.turnClock(400 * DAY)
  expect(await on.keeps('old')).toBe(true)
  expect(await on.jumpMs()).toBe(400 * DAY)
  await on.wait(12 * SECOND)
  expect(await on.keeps('old')).toBe(true)
  on.turnClock(-400 * DAY)
  expect(await on.jumpMs()).toBe(-400 * DAY)
  await on.wait(HOUR - SECOND)
  expect(await on.jumpMs()).toBe(-400 * DAY)
  await on.wait(2 * SECOND)
  expect(await on.jumpMs()).toBeUndefined()
  expect(await on.keeps('old')).toBe(true)
})

it.each([
  ['and the server starts again meanwhile', true],
  ['and nobody asks until then', false],
])('A clock that jumps while the server is down deletes nothing, %s', async (_, restarts) => {
  const on = await open()
  await on.begin('old')
  await on.wait(2 * HOUR)
  on.turnClock(400 * DAY)
  on.restart()
  expect(await on.keeps('old')).toBe(true)
  await on.wait(12 * SECOND)
  if (restarts) on.restart()
  expect(await on.keeps('old')).toBe(true)
  on.turnClock(-400 * DAY)
  on.restart()
  expect(await on.jumpMs()).toBeLessThan(-399 * DAY)
  expect(await on.keeps('old')).toBe(true)
})

it('A restart within the hour goes on with it', async () => {
  const on = await open()
  await on.begin('old')
  await on.wait(HOUR / 2)
  on.restart()
  await on.wait(HOUR / 2)
  const artifacts = on.artifacts(0)
  const file = { name: 'x.txt', mediaType: 'text/plain', bytes: new Uint8Array(1) }
  await artifacts.add(file)
  await artifacts.add(file)
  expect(on.rows()).toBe(1)
})

it('Programs that were let in outlive a jump, with their conversations', async () => {
  const on = await open()
  await on.begin('old')
  await on.wait(2 * HOUR)
  on.turnClock(400 * DAY)
  expect(await on.removesKey()).toBe(false)
  expect(await on.keeps('old')).toBe(true)
  on.turnClock(-400 * DAY)
  expect(await on.removesKey()).toBe(false)
  expect(await on.keeps('old')).toBe(true)
  await on.wait(2 * HOUR)
  expect(await on.removesKey()).toBe(true)
  expect(await on.keeps('old')).toBe(true)
})

it('Programs are old by the clock of the store alone', async () => {
  const on = await open()
  await on.wait(2 * HOUR)
  expect(await on.removesKey(Date.now() - HOUR)).toBe(false)
  expect(await on.removesKey(Date.now() - 3 * HOUR)).toBe(true)
})

it('What nobody writes any more is not in progress for ever after the clock was set back', async () => {
  const on = await open()
  await on.begin('a')
  await on.answer('a', 'x')
  await on.evaluate('1')
  expect(await on.silenceIn('a', 'x')).toBe(0)
  on.turnClock(-HOUR)
  expect(await on.silenceIn('a', 'x')).toBe(HOUR)
  expect(await on.evaluate('2')).toMatchObject({ state: 'running' })
})

it('What is being worked on is not claimed again after the clock was set back', async () => {
  const on = await open()
  await on.add('a')
  expect(await on.claims()).toEqual(['a'])
  on.turnClock(-10 * 60 * SECOND)
  expect(await on.claims()).toEqual([])
})

it('Files of agents outlive a jump, too', async () => {
  const on = await open()
  await on.wait(2 * HOUR)
  const artifacts = on.artifacts(DAY)
  const file = { name: 'x.txt', mediaType: 'text/plain', bytes: new Uint8Array(1) }
  await artifacts.add(file)
  on.turnClock(2 * DAY)
  await artifacts.add(file)
  expect(on.rows()).toBe(2)
})
