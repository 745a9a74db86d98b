import { describe, expect, it } from 'vitest'
import { createAdmission } from '../../../src/services/ingestion/documents.ts'
import { openParts } from './ingestion-parts.ts'

async function open(queueLimit: number) {
  const { store } = await openParts()
  await store.add({ id: 'failed', text: 'x' })
  const [job] = await store.claimJobs(1)
  if (job) await store.failJob(job, { code: 'internal', message: 'x' })
  await store.add({ id: 'waits', text: 'x' }, { key: 'known', digest: 'd' })
  return createAdmission(store, queueLimit)
}

describe('A document that is about to come', () => {
  it('is admitted while there is room', async () => {
    const admit = await open(2)
    expect(await admit(undefined, undefined)).toBeUndefined()
    expect(await admit('new', undefined)).toBeUndefined()
  })

  it.each([
    ['a new one', undefined, undefined],
    ['one under a new id', 'new', undefined],
    ['a replacement of one that waits no more', 'failed', undefined],
    ['one with a new key', undefined, 'new'],
  ])('is refused where there is none: %s', async (_what, id, key) => {
    const admit = await open(1)
    await expect(admit(id, key)).rejects.toMatchObject({ code: 'queue_full', retryAfter: 5 })
  })

  it.each([
    ['a replacement of one that waits already', 'waits', undefined],
    ['one that came before with the same key', undefined, 'known'],
  ])('is admitted all the same: %s', async (_what, id, key) => {
    const admit = await open(1)
    expect(await admit(id, key)).toBeUndefined()
  })
})
