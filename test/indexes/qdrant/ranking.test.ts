import { describe, expect, it } from 'vitest'
import { isLong, long } from '../../support/long.ts'
import { type FakeQdrant, startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { compareRankings, hasCranfield } from './compare-rankings.ts'
import { qdrantIndexAt, SETTINGS } from './qdrant-index.ts'

const SHARDS = 3
/** Of the chunks of Cranfield, in terms. */
const MEAN_LENGTH = 144_268 / 1_398
/** Of how many questions one is asked, where not all are. */
const EVERY = 10
/** As a fresh installation begins; the chunks of Cranfield are much shorter. */
const averageLength = async () => 167

/** Collections as an earlier version made them: Qdrant weighs terms, each shard by what it holds itself. */
const compareFormer = async (shards: number) => {
  const fake = await startFakeQdrant()
  const body = {
    ...{ vectors: {}, sparse_vectors: { terms: { modifier: 'idf' } }, shard_number: shards },
    metadata: { layout: 2, kind: 'terms', analyser: 'english-1', averageLength: MEAN_LENGTH },
  }
  fake.store.perform('PUT /collections/{collection_name}', 'test-terms-1', body, fake)
  fake.store.aliases.set('test-terms', 'test-terms-1')
  return compare(fake, EVERY)
}

/** Of every `step`th question of Cranfield. */
const compare = (fake: FakeQdrant, step: number) =>
  compareRankings(async () => {
    const settings = { ...SETTINGS, shards: SHARDS }
    const index = qdrantIndexAt(fake.url, { settings, averageLength })
    await index.open()
    return index
  }, step)

describe.skipIf(!hasCranfield)(
  'The rankings of both indexes (where the judged collections are)',
  () => {
    it('are the same on Cranfield with feedback, on a fresh installation, on three shards', {
      ...long,
      timeout: 240_000,
    }, async () => {
      const fake = await startFakeQdrant()
      const { embedded, shared, same } = await compare(fake, isLong ? 1 : EVERY)
      expect(fake.mistakes).toEqual([])
      if (isLong) expect(embedded).toBeGreaterThanOrEqual(0.42)
      expect(Math.abs(embedded - shared)).toBeLessThan(0.001)
      expect(same).toBeGreaterThan(isLong ? 0.98 : 0.95)
    })

    it('were others where each of three shards weighed terms by what it held itself', {
      ...long,
      timeout: 240_000,
    }, async () => {
      const [whole, parted] = [await compareFormer(1), await compareFormer(SHARDS)]
      expect(whole.same).toBeGreaterThan(0.9)
      expect(parted.same).toBeLessThan(0.5)
    })
  },
)
