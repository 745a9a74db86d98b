import { describe, expect, it, onTestFinished } from 'vitest'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { fuzzRights } from '../../support/rights/fuzz.ts'
import { startServer } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** `RIGHTS_SEED` repeats what was changed and asked. */
const SEED = Number(process.env.RIGHTS_SEED ?? Date.now() % 1_000_000)
const SIZE = { documents: 15, changes: 60, milliseconds: 240_000, clients: 16, tools: false }
const FUZZ_MS = 600_000

describe.skipIf(!hasPostgres)(
  `Rights that change at random on two servers of one database (RIGHTS_SEED=${SEED})`,
  () => {
    it(
      'hold on either server for whatever is asked after them',
      async () => {
        const data = await createPostgresData()
        onTestFinished(() => data.remove())
        const { url: QDRANT_URL } = await startFakeQdrant()
        const start = async () => {
          const server = await startServer({ DATABASE_URL: data.url, QDRANT_URL })
          onTestFinished(() => server.close())
          return server
        }
        const servers = [await start(), await start()]
        const { leaks, refusals, ...counts } = await fuzzRights(servers, { ...SIZE, seed: SEED })
        expect(leaks).toEqual([])
        expect(refusals).toEqual([])
        expect(counts.unanswered).toBe(0)
        expect(Math.min(counts.asked, counts.shown, counts.leftOut)).toBeGreaterThan(30)
      },
      FUZZ_MS,
    )
  },
)
