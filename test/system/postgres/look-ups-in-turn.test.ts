import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostgresData, hasPostgres } from './store-data.ts'

const SOON_MS = 2_000

describe.skipIf(!hasPostgres)('Look-ups that take long (need PostgreSQL)', () => {
  it('leave connections to everybody else, whoever asks for how many, and leaves', async () => {
    const data = await createPostgresData()
    const store = await data.open()
    onTestFinished(async () => {
      await store.close()
      await data.remove()
    })
    // From now on, whoever looks through the documents waits.
    const held = data.sql('BEGIN; LOCK TABLE agent_server.documents; SELECT pg_sleep(6); COMMIT')
    const locks = async () =>
      data.sql("SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted")
    await expect.poll(async () => (await locks()).length).toBeGreaterThan(0)
    const leaving = new AbortController()
    const greedy = { ...everything(), reader: 'greedy' }
    const asked = Array.from({ length: 20 }, () =>
      store.lookup.countDocuments(greedy, undefined, leaving.signal).catch(() => undefined),
    )
    leaving.abort()
    asked.push(
      ...Array.from({ length: 20 }, () =>
        store.lookup
          .countDocuments(greedy, undefined, AbortSignal.timeout(SOON_MS))
          .catch(() => undefined),
      ),
    )
    const began = performance.now()
    expect(await store.conversations.list('modest', { limit: 9 })).toEqual([])
    expect(performance.now() - began).toBeLessThan(SOON_MS)
    await Promise.all([...asked, held])
    const modest = { ...everything(), reader: 'modest' }
    expect(await store.lookup.countDocuments(modest, undefined, AbortSignal.timeout(SOON_MS))).toBe(
      0,
    )
  })
})
