import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiKeyCreated } from '../../../src/schemas/operator/api-key.ts'
import { failureOf } from '../../support/failure.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { requester, startServer } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** Longer than another server may go on taking a key, for a busy machine. */
const patient = { timeout: 20_000 }

describe.skipIf(!hasPostgres)('Keys of two servers on one database (needs PostgreSQL)', () => {
  it('made at one are taken by the other, bounded there, and refused when they are revoked', async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const { url: QDRANT_URL } = await startFakeQdrant()
    const shared = { DATABASE_URL: data.url, QDRANT_URL }
    const [one, other] = [await startServer(shared), await startServer(shared)]
    const hidden = { method: 'PUT', body: { text: 'Hidden.', collection: 'green' } }
    expect((await one.request('/documents/hidden?wait=20', hidden)).status).toBe(200)
    const body = { name: 'Red', scopes: ['query', 'ingest'], collections: ['red'] }
    const made = await one.request('/admin/keys', { body })
    const { id, secret } = ApiKeyCreated.parse(await made.json())
    const ask = requester(other.url, secret)
    await expect.poll(async () => (await ask('/documents')).status, patient).toBe(200)
    const mine = { text: 'Mine.', collection: 'red' }
    for (const [method, sent] of [
      ['PUT', mine],
      ['PATCH', { metadata: { a: 1 } }],
      ['DELETE'],
    ] as const) {
      const refused = await ask('/documents/hidden', { method, ...(sent && { body: sent }) })
      expect((await failureOf(refused)).code).toBe('document_not_found')
    }
    expect((await ask('/documents/mine?wait=20', { method: 'PUT', body: mine })).status).toBe(200)
    expect((await one.request(`/admin/keys/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await requester(one.url, secret)('/documents')).status).toBe(401)
    await expect.poll(async () => (await ask('/documents')).status, patient).toBe(401)
  })
})
