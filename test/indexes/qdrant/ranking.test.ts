import { describe, expect, it } from 'vitest'
import { isLong, long } from '../../support/long.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { compareRankings, hasCranfield } from './compare-rankings.ts'
import { qdrantIndexAt } from './qdrant-index.ts'

describe.skipIf(!hasCranfield)(
  'The rankings of both indexes (where the judged collections are)',
  () => {
    it('are equally good on Cranfield with feedback, and almost always the same', {
      ...long,
      timeout: 240_000,
    }, async () => {
      const fake = await startFakeQdrant()
      const { embedded, shared, same } = await compareRankings(
        async (averageLength) => {
          const index = qdrantIndexAt(fake.url, { averageLength: async () => averageLength })
          await index.open()
          return index
        },
        isLong ? 1 : 10,
      )
      expect(fake.mistakes).toEqual([])
      if (isLong) expect(embedded).toBeGreaterThanOrEqual(0.42)
      expect(Math.abs(embedded - shared)).toBeLessThan(0.001)
      expect(same).toBeGreaterThan(isLong ? 0.98 : 0.95)
    })
  },
)
