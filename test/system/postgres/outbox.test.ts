import { describe, expect, it, onTestFinished } from 'vitest'
import { verifies } from '../../requirements.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('What is to be told outside (needs PostgreSQL)', () => {
  describe('Servers of which only some have a webhook', () => {
    const openTwo = async () => {
      const data = await createPostgresData()
      onTestFinished(data.remove)
      const [wanting, other] = await Promise.all([data.open(), data.open()])
      onTestFinished(async () => {
        await Promise.all([wanting.close(), other.close()])
      })
      await wanting.outbox.enable(true)
      const end = async (id: string) => {
        await other.add({ id, text: 'x' })
        for (const job of await other.claimJobs(1)) await other.completeJob(job, [])
      }
      const dueNow = async () => {
        const taken = await wanting.outbox.takeEvents(9, 0)
        return taken.map(({ documentId }) => documentId)
      }
      return { data, wanting, other, end, dueNow }
    }

    it(
      'write down the ends of all, whoever starts without',
      verifies('shared.webhook'),
      async () => {
        const { other, end, dueNow } = await openTwo()
        await end('a')
        await other.outbox.enable(false)
        await end('b')
        expect(await dueNow()).toEqual(['a', 'b'])
      },
    )

    it('keep recording events while the servers with a webhook are away', async () => {
      const { data, wanting, other, end } = await openTwo()
      await wanting.close()
      await other.outbox.enable(false)
      await end('a')
      const again = await data.open()
      onTestFinished(again.close)
      await again.outbox.enable(true)
      expect(await again.outbox.takeEvents(9, 0)).toMatchObject([{ documentId: 'a' }])
    })

    it('record nothing, and drop pending events, after days without a webhook', async () => {
      const { data, other, end, dueNow } = await openTwo()
      await end('a')
      await data.sql('UPDATE agent_server.announcers SET until = until - $1', [4 * 24 * 3_600_000])
      await end('b')
      expect(await dueNow()).toEqual(['a'])
      await other.outbox.enable(false)
      expect(await dueNow()).toEqual(['a'])
      // Nothing is dropped before the clock has been right for an hour.
      await data.sql(`UPDATE agent_server.meta SET value = 0 WHERE name = 'clock_since'`)
      const later = await data.open()
      onTestFinished(later.close)
      await later.outbox.enable(false)
      expect(await dueNow()).toEqual([])
    })
  })
})
