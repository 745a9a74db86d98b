import { expect, it, onTestFinished } from 'vitest'
import type { DocumentStore } from '../../../src/stores/document-store.ts'
import { qdrantOptionsAt } from '../../indexes/qdrant/qdrant-index.ts'
import { createSqliteData } from '../../stores/sqlite/store-data.ts'
import { isLong, long } from '../../support/long.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { replaceWhilePublishing } from './replacement-schedule.ts'

const SEEDS = isLong ? 30 : 12
/** A schedule takes 0.2 s; a busy machine five times that. */
const TIMEOUT_MS = 180_000

/** The first seed by which chunks were lost. */
async function findLoss(
  change: (store: DocumentStore) => DocumentStore,
): Promise<number | undefined> {
  const data = await createSqliteData()
  const qdrant = await startFakeQdrant()
  const options = qdrantOptionsAt(qdrant.url)
  const store = change(await data.open())
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  for (let seed = 1; seed <= SEEDS; seed++) {
    const lost = await replaceWhilePublishing({ options, stores: [store, store, store], seed })
    expect(qdrant.mistakes).toEqual([])
    if (lost.length > 0) return seed
  }
  return undefined
}

it('a replaced index lacks nothing, however its steps and those of servers that publish fall', {
  ...long,
  timeout: TIMEOUT_MS,
}, async () => {
  expect(await findLoss((store) => store)).toBeUndefined()
})

it(
  'these schedules find what is lost where keys stay of use',
  async () => {
    const retireChunkKeys = async () => undefined
    expect(await findLoss((store) => ({ ...store, retireChunkKeys }))).toBeGreaterThan(0)
  },
  TIMEOUT_MS,
)
