import { Filter } from '@agent-server/schemas/metadata.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toPayloadFilter } from '../../packages/index-qdrant/src/payload.ts'
import { qdrantIndexAt } from '../../packages/index-qdrant/test/qdrant-index.ts'
import { describeFilters } from '../contracts/filters.contract.ts'
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

it('The largest filter that is accepted stays within what a request to Qdrant may hold', () => {
  const many = Array.from({ length: 90 }, (_, i) => `${i}`.padEnd(500, '\u{1F44B}'))
  const parts = Array.from({ length: 10 }, (_, i) => ({ field: `f${i}`, in: many }))
  const filter = Filter.parse({ and: parts })
  expect(JSON.stringify(toPayloadFilter(filter)).length).toBeLessThan(100_000)
})
