import { afterAll, beforeAll, expect } from 'vitest'
import { describeChunkIndex } from '../../../packages/search/test/contracts/chunk-index.contract.ts'
import { type FakeQdrant, startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { qdrantIndexAt } from './qdrant-index.ts'

let fake: FakeQdrant
beforeAll(async () => {
  fake = await startFakeQdrant()
})
afterAll(async () => {
  await fake.close()
  expect(fake.mistakes).toEqual([])
})

describeChunkIndex('An index on a fake Qdrant', async (source) => {
  const index = qdrantIndexAt(fake.url, { source })
  await index.open()
  return {
    index,
    async remove() {
      fake.store.collections.clear()
      fake.store.aliases.clear()
    },
  }
})
