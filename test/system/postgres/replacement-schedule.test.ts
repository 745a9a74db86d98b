import { describe, expect, it, onTestFinished } from 'vitest'
import { qdrantOptionsAt } from '../../../packages/index-qdrant/test/qdrant-index.ts'
import { replaceWhilePublishing } from '../../documents/ingestion/replacement-schedule.ts'
import { verifies } from '../../requirements.ts'
import { isLong } from '../../support/long.ts'
import { PATIENCE, startQdrant } from '../../support/qdrant/nodes.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const SEEDS = isLong ? 60 : 20
const MINUTES = 2 * 60_000 * PATIENCE

describe.skipIf(!hasPostgres)('An index of several servers (needs PostgreSQL)', () => {
  it('lacks nothing when it has been replaced while they publish, however the steps fall', {
    timeout: MINUTES,
    ...verifies('shared.rebuild'),
  }, async () => {
    const data = await createPostgresData()
    onTestFinished(data.remove)
    const stores = [await data.open(), await data.open(), await data.open()] as const
    onTestFinished(async () => {
      for (const store of stores) await store.close()
    })
    const qdrant = await startQdrant()
    const options = qdrantOptionsAt(qdrant.url)
    for (let seed = 1; seed <= SEEDS; seed++) {
      expect(await replaceWhilePublishing({ options, stores, seed })).toEqual([])
    }
  })
})
