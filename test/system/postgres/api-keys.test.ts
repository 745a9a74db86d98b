import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { failureOf } from '../../support/failure.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { requester, startServer } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

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
    expect((await ask('/documents')).status).toBe(200)
    const mine = { text: 'Mine.', collection: 'red' }
    for (const sent of [{ method: 'PATCH', body: { metadata: { a: 1 } } }, { method: 'DELETE' }]) {
      const refused = await ask('/documents/hidden', sent)
      expect((await failureOf(refused)).code).toBe('document_not_found')
    }
    const chosen = await ask('/documents/hidden?wait=20', { method: 'PUT', body: mine })
    expect(await chosen.json()).toMatchObject({ id: 'red~hidden' })
    expect(await (await one.request('/documents/hidden/text')).text()).toBe('Hidden.')
    expect((await ask('/documents/mine?wait=20', { method: 'PUT', body: mine })).status).toBe(200)
    expect((await one.request(`/admin/keys/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await requester(one.url, secret)('/documents')).status).toBe(401)
    expect((await ask('/documents')).status).toBe(401)
  })
})
