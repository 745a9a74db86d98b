import { join } from 'node:path'
import { everything } from '@agent-server/lib/visibility.ts'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLookups } from '../../../src/stores/sqlite/lookup.ts'
import { describeDocumentLookup } from '../../contracts/document-lookup.contract.ts'
import { countThreads } from '../../support/threads.ts'
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

it('Look-ups whose callers have left are waited for by no more than a thousand others', async () => {
  const data = await createSqliteData()
  const store = await data.open()
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  const left = new AbortController()
  const count = (signal: AbortSignal) =>
    store.lookup.countDocuments(everything(), undefined, signal)
  const abandoned = Array.from({ length: 1_000 }, () => count(left.signal).catch(() => undefined))
  left.abort()
  await Promise.all(abandoned)
  const { signal } = new AbortController()
  await expect(count(signal)).rejects.toMatchObject({ code: 'store_unavailable' })
  await expect.poll(() => count(signal).catch(() => undefined)).toBe(0)
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
