import { describe, expect, it } from 'vitest'
import { createAdmission } from '../../../src/services/ingestion/admission.ts'
import { openParts } from './ingestion-parts.ts'

async function open(queueLimit: number) {
  const { store } = await openParts()
  await store.add({ id: 'failed', text: 'x' })
  const [job] = await store.claimJobs(1)
  if (job) await store.failJob(job, { code: 'internal', message: 'x' })
  await store.add({ id: 'waits', text: 'x' }, { key: 'known', digest: 'd' })
  return createAdmission({ store, queueLimit })
}

describe('A document that is about to come', () => {
  it('is admitted while there is room', async () => {
    const { admit } = await open(2)
    expect(await admit({})).toBeUndefined()
    expect(await admit({ id: 'new' })).toBeUndefined()
  })

  it.each([
    ['a new one', {}],
    ['one under a new id', { id: 'new' }],
    ['a replacement of one that waits no more', { id: 'failed' }],
    ['one with a new key', { idempotencyKey: 'new' }],
  ])('is refused where there is none: %s', async (_what, arrival) => {
    const { admit } = await open(1)
    await expect(admit(arrival)).rejects.toMatchObject({ code: 'queue_full', retryAfter: 5 })
  })

  it.each([
    ['a replacement of one that waits already', { id: 'waits' }],
    ['one that came before with the same key', { idempotencyKey: 'known' }],
  ])('is admitted all the same: %s', async (_what, arrival) => {
    const { admit } = await open(1)
    expect(await admit(arrival)).toBeUndefined()
  })
})
