import { describe, expect, it } from 'vitest'
import { qdrantIndexAt, SETTINGS } from '../../packages/index-qdrant/test/qdrant-index.ts'
import { isLong, onlyLong } from '../support/long.ts'
import { startFakeQdrant } from '../support/qdrant/fake-qdrant.ts'
import { compareRankings, hasCollections } from './compare-rankings.ts'

describe.skipIf(!(isLong && hasCollections))(
  'The rankings of an index in Qdrant (where the judged collections are)',
  onlyLong,
  () => {
    it.each([
      ['cranfield', 1],
      ['cranfield', 3],
      ['cacm', 1],
      ['cacm', 3],
    ] as const)(
      'are as good on %s as those of the embedded index, on %d shard(s)',
      { timeout: 240_000 },
      async (collection, shards) => {
        const fake = await startFakeQdrant()
        const index = qdrantIndexAt(fake.url, { settings: { ...SETTINGS, shards } })
        await index.open()
        const { embedded, other } = await compareRankings(collection, index)
        expect(fake.mistakes).toEqual([])
        expect(other).toBeGreaterThanOrEqual(embedded - 0.005)
      },
    )
  },
)
