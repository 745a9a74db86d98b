import { setTimeout as pause } from 'node:timers/promises'
import { StorageUseList } from '@agent-server/schemas/operator/storage-use.ts'
import { expect, it } from 'vitest'
import { createStorageUse } from '../../src/operator/ops/storage-use.ts'
import { startServer } from '../support/server.ts'

it('Stored data is counted by kind, each with its limit', async () => {
  const server = await startServer({ RUNS_KEPT: '7', AUDIT_DAYS: '30' })
  const storage = async () =>
    StorageUseList.parse(await (await server.request('/admin/storage')).json()).storage
  const before = await storage()
  expect(before.map(({ name }) => name)).toEqual(expect.arrayContaining(['documents', 'sessions']))
  expect(before.filter(({ bound, retention }) => !bound || !retention)).toEqual([])
  expect(before.find(({ name }) => name === 'documents')).toMatchObject({ count: 0 })

  await server.ingest({ text: 'Owls hunt at night.' })
  const messages = [{ role: 'user', content: 'When do owls hunt?' }]
  await (await server.request('/chat', { body: { messages } })).text()
  await server.request('/v1/conversations', { body: {} })
  const find = async (wanted: string) => (await storage()).find(({ name }) => name === wanted)
  expect(await find('documents')).toMatchObject({ count: 1 })
  expect(await find('conversations')).toMatchObject({ count: 1 })
  for (const { name, bytes } of await storage())
    expect([name, bytes]).toEqual([name, expect.any(Number)])
  await expect.poll(() => find('runs')).toMatchObject({ count: 1, most: 7, retention: '30 days' })
  const { most = 0 } = (await find('entries of the audit log')) ?? {}
  expect(await find('entries of the audit log')).toMatchObject({ retention: '30 days' })
  expect(most).toBe(5_000_000)
  const refusing = (await storage()).filter(({ whenFull }) => whenFull === 'refused')
  expect(refusing.map(({ name }) => name)).toEqual([
    'judged questions',
    'keys',
    'shared collections',
  ])
})

it('Stored data is measured with what belongs to it, for a hundredth of the time at most', async () => {
  let measured = 0
  const store = {
    countRows: async (tables: readonly string[]) => new Map(tables.map((name) => [name, 1])),
    async tableBytes() {
      measured += 1
      await pause(50)
      return new Map([
        ['documents', 4_096],
        ['chunks', 8_192],
        ['vectors', 100],
        ['audit', 7],
      ])
    },
  }
  const settings = { AUDIT_DAYS: 1, RUNS_KEPT: 1, USAGE_DAYS: 1 }
  const storageUse = createStorageUse(settings, store)
  const [first] = await Promise.all([storageUse(), storageUse(), storageUse()])
  await storageUse()
  expect(measured).toBe(1)
  const bytes = new Map(first.map((each) => [each.name, each.bytes]))
  expect([bytes.get('documents'), bytes.get('entries of the audit log')]).toEqual([12_388, 7])
  expect(bytes.get('runs')).toBeUndefined()

  store.tableBytes = () => Promise.reject(new Error('It took too long'))
  const [documents] = await createStorageUse(settings, store)()
  expect(documents).toMatchObject({ count: 1 })
  expect(documents).not.toHaveProperty('bytes')
})
