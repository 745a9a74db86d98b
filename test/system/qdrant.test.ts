import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createCollections } from '../../packages/index-qdrant/src/collections.ts'
import { connectToQdrant } from '../../packages/index-qdrant/src/connection.ts'
import type { QdrantIndexOptions } from '../../packages/index-qdrant/src/qdrant-index.ts'
import {
  qdrantIndexAt,
  qdrantOptionsAt,
  SETTINGS,
} from '../../packages/index-qdrant/test/qdrant-index.ts'
import { describeChunkIndex } from '../../packages/search/test/contracts/chunk-index.contract.ts'
import {
  addTo,
  batchOf,
  createSource,
  keysFor,
  labelsOf,
  searchIn,
} from '../../packages/search/test/contracts/chunk-index.fixture.ts'
import { vectorBatch } from '../../packages/search/test/contracts/vector-index.contract.ts'
import { createSqliteData } from '../../packages/stores/test/sqlite/store-data.ts'
import { describeFilters } from '../contracts/filters.contract.ts'
import { replaceWhilePublishing } from '../documents/ingestion/replacement-schedule.ts'
import { compareRankings, hasCollections } from '../retrieval/compare-rankings.ts'
import { PROGRAM, type QdrantNode, startNodes } from '../support/qdrant/nodes.ts'

const { TEST_QDRANT_URL = '', QDRANT_API_KEY: apiKey } = process.env

interface Place {
  url: string
  settings: QdrantIndexOptions['settings']
}

/** One shard everywhere, whose idf the suite knows. */
const PLACES: [string, Place][] = []
if (PROGRAM) {
  const addressOf = (nodes: readonly QdrantNode[]) => nodes.map(({ url }) => url).join(',')
  PLACES.push(
    ['One node of Qdrant', { url: addressOf(await startNodes(1)), settings: SETTINGS }],
    [
      'Three nodes of Qdrant, each shard in two of them',
      { url: addressOf(await startNodes(3)), settings: { ...SETTINGS, replicas: 2 } },
    ],
  )
} else {
  PLACES.push(['A real Qdrant', { url: TEST_QDRANT_URL, settings: SETTINGS }])
}

/** An index of its own, whose collections can be dropped again. */
async function openIndexAt({ url, settings }: Place, more: Partial<QdrantIndexOptions> = {}) {
  const prefix = `test-${randomUUID()}`
  const address = { url, apiKey, deadlineMs: 30_000 }
  const given = { address, prefix, settings, ...more }
  const options = { ...qdrantOptionsAt(url), ...given }
  const index = qdrantIndexAt(url, given)
  await index.open()
  const connection = connectToQdrant(address)
  const collections = createCollections(connection)
  return {
    index,
    options,
    /** All collections, or those of whose names this is a part. */
    async remove(part = '') {
      for (const alias of [`${prefix}-terms`, `${prefix}-vectors`]) {
        const name = await collections.behind(alias)
        if (name?.includes(part)) await collections.drop(name)
      }
    },
    /** Puts the collection of words into strict mode. */
    async limit(strict_mode_config: object) {
      const path = `/collections/${await collections.behind(`${prefix}-terms`)}`
      const body = { strict_mode_config }
      await connection.call({ method: 'PATCH', path, body, result: z.literal(true) })
    },
  }
}

const isGiven = PROGRAM !== '' || TEST_QDRANT_URL !== ''

describe.skipIf(!isGiven).each(PLACES)('%s (needs one: npm run test:qdrant)', (_place, place) => {
  const openIndex = (more?: Partial<QdrantIndexOptions>) => openIndexAt(place, more)

  for (const quantisation of ['none', 'int8', 'turbo4'] as const) {
    const settings = { ...place.settings, quantisation }
    const name = `An index with vectors of kind ${quantisation}`
    describeChunkIndex(name, (source) => openIndex({ settings, source }))
    describeFilters(name, (source) => openIndex({ settings, source }))
  }

  it.skipIf(!hasCollections)(
    'ranks Cranfield as well as the embedded index does (where the judged collections are)',
    async () => {
      const { index, remove } = await openIndex()
      const { embedded, other } = await compareRankings('cranfield', index)
      await remove()
      expect(other).toBeGreaterThanOrEqual(embedded - 0.005)
    },
  )

  it('lacks nothing when it has been replaced while servers publish, however the steps fall', async () => {
    const data = await createSqliteData()
    const store = await data.open()
    const { remove, options } = await openIndex()
    const stores = [store, store, store] as const
    for (let seed = 1; seed <= 20; seed++) {
      expect(await replaceWhilePublishing({ options, stores, seed })).toEqual([])
    }
    await remove()
    await store.close()
    await data.remove()
  })

  it('reports what is lost, and makes it anew', async () => {
    const { index, remove } = await openIndex()
    await addTo(index, { 1: ['wing'] })
    await index.addVectors(vectorBatch([1]))
    expect(await index.lost()).toBeUndefined()
    await remove('vectors')
    expect(await index.lost()).toBe('vectors')
    await remove()
    expect(await index.lost()).toBe('lexical')
    expect(await index.open()).toBe(true)
    expect(await index.lost()).toBeUndefined()
    expect(await index.keys()).toHaveLength(0)
    await remove()
  })

  it('stays within the limits that strict mode usually has', async () => {
    const { index, remove, limit } = await openIndex()
    const many = Array.from({ length: 2_500 }, (_, place) => [place + 1, ['tail']])
    await addTo(index, Object.fromEntries(many))
    await limit({ enabled: true, max_query_limit: 1_000, search_max_batchsize: 32 })
    expect(await index.keys()).toHaveLength(2_500)
    expect(await keysFor(index, ['tail'], 2_200)).toHaveLength(2_200)
    await remove()
  })

  it('has no more payload indexes than strict mode allows, and filters all the same', async () => {
    const source = createSource()
    const { index, remove, limit } = await openIndex({ source })
    await limit({ enabled: true, max_payload_index_count: 3 })
    for (const key of [1, 2]) {
      const metadata = { [`a${key}`]: key, [`b${key}`]: key, on: '2026-11-26' }
      source.metadata.set(key, metadata)
      await index.add(Uint32Array.of(key), batchOf([['wing']]), [labelsOf(metadata)])
    }
    for (const field of ['a', 'b']) {
      const found = await searchIn(index, ['wing'], { filter: { field: `${field}2`, gt: 1 } })
      expect(found.map(({ key }) => key)).toEqual([2])
    }
    await remove()
  })

  it('weighs by BM25: ln(1 + (n - df + 0.5) / (df + 0.5)) × weight', async () => {
    const { index, remove } = await openIndex()
    await addTo(index, { 1: ['wing'], 2: ['tail'], 3: ['tail'] })
    const [match] = await searchIn(index, ['wing'])
    // k1 1.5, b 0.75, and a chunk of one term where 54 are taken for the mean.
    const weight = 2.5 / (1 + 1.5 * (0.25 + 0.75 / 54))
    expect(match?.score).toBeCloseTo(Math.log(1 + 2.5 / 1.5) * weight, 6)
    await index.close()
    await remove()
  })
})
