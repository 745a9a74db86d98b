import { afterAll, beforeAll, expect } from 'vitest'
import { type FakeQdrant, startFakeQdrant } from '../../../test/support/qdrant/fake-qdrant.ts'
import { describeChunkIndex } from '../../search/test/contracts/chunk-index.contract.ts'
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
