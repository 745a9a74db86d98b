import { describe, expect, it, onTestFinished } from 'vitest'
import { startQdrant } from '../../support/qdrant/nodes.ts'
import { askOperations, judgeLists } from '../../support/rights/matrix.ts'
import { fillWorld } from '../../support/rights/world.ts'
import { startServer } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const SIZE = { documents: 300, people: 20, groups: 10 }
const MATRIX_MS = 600_000

describe.skipIf(!hasPostgres)('Rights in PostgreSQL and Qdrant (needs PostgreSQL)', () => {
  it(
    'show people what they may read, and nothing else',
    async () => {
      const data = await createPostgresData()
      onTestFinished(() => data.remove())
      const { url: QDRANT_URL } = await startQdrant()
      const server = await startServer({ DATABASE_URL: data.url, QDRANT_URL })
      onTestFinished(() => server.close())
      const world = await fillWorld(server, SIZE)
      await judgeLists(server, world)
      const { asked, leaks, refusals } = await askOperations(server, world, {
        rounds: 10,
        slowEvery: 5,
      })
      expect(leaks).toEqual([])
      expect(refusals).toEqual([])
      expect(asked).toBeGreaterThan(1_000)
    },
    MATRIX_MS,
  )
})
