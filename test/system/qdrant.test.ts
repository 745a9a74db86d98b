import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCollections } from '../../src/indexes/qdrant/collections.ts'
import { connectToQdrant } from '../../src/indexes/qdrant/connection.ts'
import type { QdrantIndexOptions } from '../../src/indexes/qdrant/qdrant-index.ts'
import { describeChunkIndex } from '../contracts/chunk-index.contract.ts'
import { addTo, termOf } from '../contracts/chunk-index.fixture.ts'
import { compareRankings, hasCranfield } from '../indexes/qdrant/compare-rankings.ts'
import { qdrantIndexAt, SETTINGS } from '../indexes/qdrant/qdrant-index.ts'

const { TEST_QDRANT_URL: url = '', QDRANT_API_KEY: apiKey } = process.env
const address = { url, apiKey, deadlineMs: 30_000 }

/** An index of its own, whose collections can be dropped again. */
async function openIndex(more: Partial<QdrantIndexOptions> = {}) {
  const prefix = `test-${randomUUID()}`
  const index = qdrantIndexAt(url, { address, prefix, ...more })
  await index.open()
  const collections = createCollections(connectToQdrant(address))
  return {
    index,
    async remove() {
      for (const alias of [`${prefix}-terms`, `${prefix}-meaning`]) {
        const name = await collections.behind(alias)
        if (name !== undefined) await collections.drop(name)
      }
    },
  }
}

describe.skipIf(url === '')('A real Qdrant (needs one: npm run test:qdrant -- <url>)', () => {
  for (const quantisation of ['none', 'int8', 'turbo4'] as const) {
    const settings = { ...SETTINGS, quantisation }
    describeChunkIndex(`An index with vectors of kind ${quantisation}`, () =>
      openIndex({ settings }),
    )
  }

  it.skipIf(!hasCranfield)(
    'ranks Cranfield as the embedded index does, with feedback (where the judged collections are)',
    async () => {
      const opened: Awaited<ReturnType<typeof openIndex>>[] = []
      const { embedded, shared, same } = await compareRankings(async (averageLength) => {
        const one = await openIndex({ averageLength: async () => averageLength })
        opened.push(one)
        return one.index
      })
      for (const { remove } of opened) await remove()
      expect(Math.abs(embedded - shared)).toBeLessThan(0.01)
      expect(same).toBeGreaterThan(0.9)
    },
  )

  it('weighs as the embedded index does: ln(1 + (n - df + 0.5) / (df + 0.5)) × weight', async () => {
    const { index, remove } = await openIndex()
    await addTo(index, { 1: ['wing'], 2: ['tail'], 3: ['tail'] })
    const terms = { terms: Uint32Array.of(termOf('wing')), counts: Float32Array.of(1) }
    const [match] = await index.search({ terms, limit: 1 })
    // k1 1.5, b 0.75, a chunk of one term where the mean is four.
    const weight = 2.5 / (1 + 1.5 * (0.25 + 0.75 / 4))
    expect(match?.score).toBeCloseTo(Math.log(1 + 2.5 / 1.5) * weight, 4)
    await index.close()
    await remove()
  })
})
