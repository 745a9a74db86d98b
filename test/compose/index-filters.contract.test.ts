import { afterAll, beforeAll, expect } from 'vitest'
import { describeFilters } from '../contracts/filters.contract.ts'
import { qdrantIndexAt } from '../indexes/qdrant/qdrant-index.ts'
import { openEmbeddedIndex } from '../support/embedded-index.ts'
import { type FakeQdrant, startFakeQdrant } from '../support/qdrant/fake-qdrant.ts'

let fake: FakeQdrant
beforeAll(async () => {
  fake = await startFakeQdrant()
})
afterAll(async () => {
  await fake.close()
  expect(fake.mistakes).toEqual([])
})

describeFilters('the embedded index', async (source) => ({
  index: await openEmbeddedIndex(source),
  remove: async () => undefined,
}))

describeFilters('an index on a fake Qdrant', async (source) => {
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
