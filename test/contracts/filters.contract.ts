import { everything, narrowed } from '@agent-server/lib/visibility.ts'
import type { Filter, Metadata } from '@agent-server/schemas/metadata.ts'
import type { ChunkIndex, IndexSource } from '@agent-server/search'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChunkIndexCase } from '../../packages/search/test/contracts/chunk-index.contract.ts'
import {
  batchOf,
  createSource,
  labelsOf,
  nearestIn,
  searchIn,
} from '../../packages/search/test/contracts/chunk-index.fixture.ts'
import {
  randomVector,
  vectorBatch,
} from '../../packages/search/test/contracts/vector-index.contract.ts'
import { createSqliteData } from '../../packages/stores/test/sqlite/store-data.ts'
import { isLong, long } from '../support/long.ts'
import { createRandom } from '../support/random.ts'
import { randomFilter, randomMetadata } from './metadata.fixture.ts'
import { openStore } from './open-store.ts'

const SEED = 11
const DOCUMENTS = 80
const FILTERS = isLong ? 400 : 80

/** A filter selects the same documents in an index as in the document store. */
export function describeFilters(
  name: string,
  create: (source: IndexSource) => Promise<ChunkIndexCase>,
): void {
  describe(`The filters of ${name}`, () => {
    let parts: ChunkIndexCase & { source: ReturnType<typeof createSource> }
    const current = () => parts
    beforeEach(async () => {
      const source = createSource()
      parts = { source, ...(await create(source)) }
    })
    afterEach(async () => {
      await parts.index.close()
      await parts.remove()
    })

    it('select the same chunks as the document store', long, async () => {
      const random = createRandom(SEED)
      const { index } = current()
      const { store, add } = await openFilled(current())
      await add(Array.from({ length: DOCUMENTS }, () => randomMetadata(random)))
      await add([undefined, undefined, {}])
      let taken = 0
      for (let turn = 0; turn < FILTERS; turn++) {
        const filter = randomFilter(random, 3)
        const keys = [...(await store.visibleKeys(narrowed(everything(), filter)))]
        const expected = [JSON.stringify(filter), keys]
        expect([JSON.stringify(filter), await found(index, filter)]).toEqual(expected)
        expect([JSON.stringify(filter), await near(index, filter)]).toEqual(expected)
        taken += keys.length
      }
      expect(taken).toBeGreaterThan(FILTERS / 2)
    })

    it('use the metadata that a document has now, for terms and vectors', async () => {
      const { index } = current()
      const { store, add } = await openFilled(current())
      const keys = await add([{ color: 'red' }, { color: 'red' }, { color: 'green' }])
      await store.patchLabels(everything(), 'document-0', {
        metadata: { color: 'blue', size: 3 },
      })
      await index.refreshLabels(keys)
      for (const search of [found, near]) {
        expect(await search(index, { field: 'color', eq: 'red' })).toEqual([keys[1]])
        expect(await search(index, { field: 'color', eq: 'blue' })).toEqual([keys[0]])
        expect(await search(index, { field: 'size', gt: 2 })).toEqual([keys[0]])
        expect(await search(index, { field: 'color', eq: 'green' })).toEqual([keys[2]])
      }
      await index.refreshLabels([4_000_000_000])
      expect(await index.keys()).toHaveLength(3)
    })

    it('change neither the order nor the meaning of the limit', async () => {
      const { index } = current()
      const { add } = await openFilled(current())
      const keys = await add(Array.from({ length: 7 }, (_, i) => ({ even: i % 2 === 0, i })))
      const filter = { field: 'even', eq: true }
      const all = await searchIn(index, ['all'], { limit: 30 })
      const best = await searchIn(index, ['all'], { limit: 3, filter })
      expect(best).toEqual(all.filter(({ key }) => keys.indexOf(key) % 2 === 0).slice(0, 3))
    })
  })
}

interface Case {
  index: ChunkIndex
  source: ReturnType<typeof createSource>
}

async function found(index: ChunkIndex, filter: Filter): Promise<number[]> {
  const matches = await searchIn(index, ['all'], { limit: 200, filter })
  return matches.map(({ key }) => key).toSorted((a, b) => a - b)
}

async function near(index: ChunkIndex, filter: Filter): Promise<number[]> {
  const matches = await nearestIn(index, randomVector(1), { limit: 200, filter })
  return matches.map(({ key }) => key).toSorted((a, b) => a - b)
}

/** A document store beside the index; what is added becomes ready in it, and each chunk is in the index by a word and a vector. */
async function openFilled({ index, source }: Case) {
  const { store } = await openStore(createSqliteData)
  const { visibleKeys, readChunks } = store
  Object.assign(source, { visibleKeys, readChunks })
  let count = 0

  const addOne = async (metadata: Metadata | undefined): Promise<number> => {
    await store.add({ id: `document-${count++}`, text: 'x', metadata })
    const [job] = await store.claimJobs(1)
    if (!job) throw new Error('No job is due')
    expect(job.metadata).toEqual(metadata)
    const key = await store.reserveChunkKeys(1)
    await store.completeJob(job, [{ key, ordinal: 0, text: 'x', heading: '', start: 0, end: 1 }])
    return key
  }

  return {
    store,
    async add(all: readonly (Metadata | undefined)[]): Promise<number[]> {
      const keys: number[] = []
      for (const metadata of all) keys.push(await addOne(metadata))
      // Not all equally long, so that they have an order.
      const chunks = keys.map((_, i) => ['all', ...Array.from({ length: i }, (_, j) => `pad ${j}`)])
      await index.add(Uint32Array.from(keys), batchOf(chunks), all.map(labelsOf))
      await index.addVectors(vectorBatch(keys))
      return keys
    },
  }
}
