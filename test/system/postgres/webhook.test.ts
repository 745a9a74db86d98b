import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { verifies } from '../../requirements.ts'
import { startHttp } from '../../support/mcp-servers.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { startServer } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** The ids of the documents that a receiver was told of. */
async function startReceiver() {
  const received: string[] = []
  const receive = async (body: string) => {
    received.push(JSON.parse(body).data.id)
  }
  const { url } = await startHttp((request, response) => {
    void text(request)
      .then(receive)
      .then(() => response.writeHead(204).end())
  })
  return { url, received }
}

describe.skipIf(!hasPostgres)('Webhooks of servers on one database (needs PostgreSQL)', () => {
  it(
    'tell of the documents of all, once each, though one of the servers has none',
    verifies('shared.webhook'),
    async () => {
      const data = await createPostgresData()
      onTestFinished(data.remove)
      const qdrant = await startFakeQdrant()
      const { url, received } = await startReceiver()
      const shared = { DATABASE_URL: data.url, QDRANT_URL: qdrant.url }
      const webhook = { WEBHOOK_URL: url, WEBHOOK_SECRET: SECRET, OUTBOUND_ALLOW: '127.0.0.1' }
      const telling = [
        await startServer({ ...shared, ...webhook }),
        await startServer({ ...shared, ...webhook }),
      ]
      const silent = await startServer(shared)
      const ids = await Promise.all(
        [...telling, silent, silent].map((server, i) =>
          server.ingest({ title: `Otter ${i}`, text: `Otters hold hands, ${i} of them.` }),
        ),
      )
      await expect.poll(() => received.toSorted(), { timeout: 20_000 }).toEqual(ids.toSorted())
    },
  )
})
