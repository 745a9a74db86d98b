import { KeptList } from '@agent-server/schemas/operator/kept.ts'
import { expect, it } from 'vitest'
import { startServer } from '../support/server.ts'

it('What is kept is counted, and has its bound', async () => {
  const server = await startServer({ RUNS_KEPT: '7', AUDIT_DAYS: '30' })
  const kept = async () => KeptList.parse(await (await server.request('/admin/kept')).json()).kept
  const before = await kept()
  expect(before.map(({ name }) => name)).toEqual(expect.arrayContaining(['documents', 'sessions']))
  expect(before.filter(({ bound, keptFor }) => !bound || !keptFor)).toEqual([])
  expect(before.find(({ name }) => name === 'documents')).toMatchObject({ count: 0 })

  await server.ingest({ text: 'Owls hunt at night.' })
  const messages = [{ role: 'user', content: 'When do owls hunt?' }]
  await (await server.request('/chat', { body: { messages } })).text()
  await server.request('/v1/conversations', { body: {} })
  const find = async (wanted: string) => (await kept()).find(({ name }) => name === wanted)
  expect(await find('documents')).toMatchObject({ count: 1 })
  expect(await find('conversations')).toMatchObject({ count: 1 })
  await expect.poll(() => find('runs')).toMatchObject({ count: 1, most: 7, keptFor: '30 days' })
  const { most = 0 } = (await find('entries of the audit log')) ?? {}
  expect(await find('entries of the audit log')).toMatchObject({ keptFor: '30 days' })
  expect(most).toBe(5_000_000)
  const refusing = (await kept()).filter(({ whenFull }) => whenFull === 'refused')
  expect(refusing.map(({ name }) => name)).toEqual([
    'judged questions',
    'keys',
    'shared collections',
  ])
})
