import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { everything } from '@agent-server/lib/visibility.ts'
import { expect, it, onTestFinished, vi } from 'vitest'
import { describeDocumentLookup } from '../../../../test/contracts/document-lookup.contract.ts'
import { countThreads } from '../../../../test/support/threads.ts'
import type { OpenedStore } from '../../src/opened-store.ts'
import { rowCounts } from '../../src/sql/counts.ts'
import { createLookups } from '../../src/sqlite/lookup.ts'
import { createSqliteData } from './store-data.ts'

describeDocumentLookup('SQLite', {
  async create() {
    const data = await createSqliteData()
    const store = await data.open()
    onTestFinished(async () => {
      await store.close()
      await data.remove()
    })
    return store
  },
})

/** A store, and a count of the documents that a key sees; without one, of the operator's. */
async function openCount() {
  const data = await createSqliteData()
  const store = await data.open()
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  return (signal: AbortSignal, reader?: string) =>
    store.lookup.countDocuments({ ...everything(), reader }, undefined, signal)
}

it('A look-up is refused while a thousand others wait, and waits for none whose callers have left', async () => {
  const count = await openCount()
  const left = new AbortController()
  const { signal } = new AbortController()
  const abandoned = Array.from({ length: 1_001 }, () => count(left.signal).catch(() => undefined))
  await expect(count(signal)).rejects.toMatchObject({ code: 'store_unavailable' })
  left.abort()
  await Promise.all(abandoned)
  expect(await count(signal)).toBe(0)
})

it('Keys take turns at looking up, and one that asks for much leaves places for others', async () => {
  const count = await openCount()
  const { signal } = new AbortController()
  const ended: string[] = []
  const ask = (owner: string) =>
    count(signal, owner).then(
      () => void ended.push(owner),
      ({ code }: { code: string }) => code,
    )
  const greedy = Array.from({ length: 1_000 }, () => ask('greedy'))
  const modest = ask('modest')
  expect(await modest).toBeUndefined()
  expect(ended.length).toBeLessThan(5)
  expect(await count(signal)).toBe(0)
  const outcomes = await Promise.all(greedy)
  expect(outcomes.filter((outcome) => outcome === undefined).length).toBeGreaterThan(400)
  expect(outcomes.filter((outcome) => outcome === 'store_unavailable').length).toBeGreaterThan(400)
})

const READINGS: [string, (store: OpenedStore, reader: string) => Promise<unknown>][] = [
  ['what was done', (store, reader) => store.audit.list({ limit: 9, reader })],
  [
    'what somebody has used',
    (store, reader) =>
      store.usage.sum({ by: ['day'], since: 0, until: 9, person: 'ada', limit: 9, reader }),
  ],
]
it.each(READINGS)('Those who read %s take turns', async (_what, read) => {
  const data = await createSqliteData()
  const store = await data.open()
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  let ended = 0
  const greedy = Array.from({ length: 50 }, async () => {
    await read(store, 'greedy')
    ended += 1
  })
  await read(store, 'modest')
  expect(ended).toBeLessThan(5)
  await Promise.all(greedy)
})

it('A thread for look-ups ends where nothing is asked, and the next question begins another', async () => {
  const data = await createSqliteData()
  const store = await data.open()
  const { signal } = new AbortController()
  const before = countThreads()
  const lookups = createLookups(join(data.directory, 'agent-server.db'), () => undefined, 20)
  onTestFinished(async () => {
    await lookups.close()
    await store.close()
    await data.remove()
  })
  expect(await lookups.lookup.countDocuments(everything(), undefined, signal)).toBe(0)
  await expect.poll(countThreads).toBeLessThanOrEqual(before)
  expect(await lookups.lookup.countDocuments(everything(), undefined, signal)).toBe(0)
})

it('Without documents of conversations, no thread is started to look for those that are left over', async () => {
  const data = await createSqliteData()
  const store = await data.open()
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  const { signal } = new AbortController()
  const before = countThreads()
  expect(await store.lookup.goneConversations(everything(), 9, signal)).toEqual([])
  expect(countThreads()).toBeLessThanOrEqual(before)
})

it('Look-ups that are closed leave no timer behind, which would hold what they were made with', async () => {
  const data = await createSqliteData()
  const store = await data.open()
  onTestFinished(async () => {
    vi.useRealTimers()
    await store.close()
    await data.remove()
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const lookups = createLookups(join(data.directory, 'agent-server.db'), () => undefined)
  await lookups.lookup.countDocuments(everything(), undefined, new AbortController().signal)
  expect(vi.getTimerCount()).toBe(1)
  await lookups.close()
  expect(vi.getTimerCount()).toBe(0)
})

it('What is kept is counted in a thread, by pages and not by rows', async () => {
  const data = await createSqliteData()
  const store = await data.open()
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  await store.add({ id: 'owls', text: 'Owls hunt at night.' })
  const prepared = vi.spyOn(DatabaseSync.prototype, 'prepare')
  const counted = await store.countRows(['documents', 'feedback'])
  expect(Object.fromEntries(counted)).toEqual({ documents: 1, feedback: 0 })
  // In this thread, nothing was.
  expect(prepared.mock.calls.filter(([sql]) => sql.includes('feedback'))).toEqual([])

  using database = new DatabaseSync(join(data.directory, 'agent-server.db'))
  const steps = database.prepare(`EXPLAIN ${rowCounts(['documents', 'feedback'])}`).all()
  const names = steps.map(({ opcode }) => opcode)
  expect(names.filter((name) => name === 'Count')).toHaveLength(2)
  expect(names).not.toContain('Next')
})
