import { describe, expect, it, onTestFinished } from 'vitest'
import { isLong } from '../../support/long.ts'
import { PROGRAM, startQdrant } from '../../support/qdrant/nodes.ts'
import { askOperations, judgeLists, judgeValues } from '../../support/rights/matrix.ts'
import { callNamedTool } from '../../support/rights/tools.ts'
import { COMPANY, fillWorld } from '../../support/rights/world.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** With a real Qdrant: what PostgreSQL alone adds shows in a smaller company, too. */
const isWhole = isLong && PROGRAM !== ''
const SIZE = isWhole ? COMPANY : { documents: 300, people: 20, groups: 10 }
const MATRIX_MS = isWhole ? 1_800_000 : 600_000

describe.skipIf(!hasPostgres)('Rights in PostgreSQL and Qdrant (needs PostgreSQL)', () => {
  it(
    'show people what they may read, and nothing else',
    async () => {
      const data = await createPostgresData()
      onTestFinished(() => data.remove())
      const { url: QDRANT_URL } = await startQdrant()
      const upstream = await startScriptedUpstream({ forgets: true })
      upstream.always(callNamedTool)
      const server = await startServer({
        ...modelAt(upstream),
        DATABASE_URL: data.url,
        QDRANT_URL,
        INGEST_QUEUE_LIMIT: '20000',
      })
      onTestFinished(() => server.close())
      const world = await fillWorld(server, SIZE)
      await judgeLists(server, world)
      await judgeValues(server, world)
      const { asked, leaks, refusals } = await askOperations(server, world, {
        people: SIZE.people,
        rareEvery: isWhole ? 10 : 5,
      })
      expect(leaks).toEqual([])
      expect(refusals).toEqual([])
      expect(asked).toBeGreaterThan(1_000)
    },
    MATRIX_MS,
  )
})
