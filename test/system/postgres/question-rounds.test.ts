import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { queryEachWay, startWithVectors } from '../../support/qdrant/question-rounds.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('A question with PostgreSQL and Qdrant (needs PostgreSQL)', () => {
  it('reads chunks once', async () => {
    const data = await createPostgresData()
    onTestFinished(data.remove)
    const { qdrant, server } = await startWithVectors({ DATABASE_URL: data.url })
    const sent = vi.spyOn(pg.Client.prototype, 'query')
    const rounds: { postgres: number; qdrant: number }[] = []
    let before = 0
    // Beside the question servers look whether the collections are still there.
    const asked = () => qdrant.requests.filter(({ call }) => call.endsWith('/query')).length
    const counting = {
      begin: () => {
        before = asked()
        sent.mockClear()
      },
      end: () => {
        // Beside the question servers renew their leases and ask for jobs.
        const reads = sent.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('chunks.key'))
        rounds.push({ postgres: reads.length, qdrant: asked() - before })
      },
    }
    await queryEachWay(server, counting)
    expect(rounds).toEqual([1, 1, 2].map((round) => ({ postgres: 1, qdrant: round })))
  })
})
