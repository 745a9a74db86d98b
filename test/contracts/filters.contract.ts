import { describe, expect, it, onTestFinished } from 'vitest'
import type { ChunkIndex, IndexQuery } from '../../src/indexes/chunk-index.ts'
import type { Filter, Metadata } from '../../src/schemas/metadata.ts'
import type { DocumentStore } from '../../src/stores/document-store.ts'
import { createRandom } from '../indexes/embedded/random-chunks.ts'
import { createSqliteData } from '../stores/sqlite/store-data.ts'
import { isLong, long } from '../support/long.ts'
import { batchOf, queryOf } from './chunk-index.fixture.ts'
import { randomFilter, randomMetadata } from './metadata.fixture.ts'
import { randomVector, vectorBatch } from './vector-index.contract.ts'

const SEED = 11
const DOCUMENTS = 80
const FILTERS = isLong ? 400 : 80

/** The part of an index's contract that filters live on: it finds what the document store takes, neither more nor less. */
export function describeFilters(current: () => ChunkIndex): void {
  describe('filters', () => {
    it('take what the document store takes, whatever they ask for', long, async () => {
      const random = createRandom(SEED)
      const { store, add } = await openStore(current())
      await add(Array.from({ length: DOCUMENTS }, () => randomMetadata(random)))
      await add([undefined, undefined, {}])
      let taken = 0
      let itself = 0
      for (let turn = 0; turn < FILTERS; turn++) {
        const filter = randomFilter(random, 3)
        const asked = await narrow(current(), store, filter)
        const expected = [JSON.stringify(filter), [...(await store.matchingKeys(filter))]]
        expect([JSON.stringify(filter), await found(current(), asked)]).toEqual(expected)
        expect([JSON.stringify(filter), await near(current(), asked)]).toEqual(expected)
        taken += asked.only?.length ?? 1
        itself += asked.filter ? 1 : 0
      }
      expect(taken).toBeGreaterThan(FILTERS / 2)
      // Comparing with long strings is left to the document store; the rest is not.
      expect(itself > FILTERS / 2).toBe(current().keepsMetadata)
    })

    it('take a chunk by the metadata that it was last added with', async () => {
      const { store, add } = await openStore(current())
      const [key = 0] = await add([{ color: 'red' }])
      const isRed = { field: 'color', eq: 'red' }
      const among = await narrow(current(), store, isRed)
      expect(await found(current(), among)).toEqual([key])
      await current().add(Uint32Array.of(key), batchOf([['all']]), [{ color: 'blue' }])
      if (among.filter) expect(await found(current(), among)).toEqual([])
    })

    it('leave the best their order, and the limit its meaning', async () => {
      const { store, add } = await openStore(current())
      const keys = await add(Array.from({ length: 30 }, (_, i) => ({ even: i % 2 === 0, i })))
      const among = await narrow(current(), store, { field: 'even', eq: true })
      const all = await current().search({ terms: queryOf(['all']), limit: 30 })
      const best = await current().search({ terms: queryOf(['all']), limit: 4, ...among })
      expect(best).toEqual(all.filter(({ key }) => keys.indexOf(key) % 2 === 0).slice(0, 4))
    })

    it('end where the signal was aborted', async () => {
      const reason = new Error('left')
      const signal = AbortSignal.abort(reason)
      const filter = { field: 'year', gt: 2_000 }
      const asked = current().filters(filter, signal)
      if (current().keepsMetadata) await expect(asked).rejects.toBe(reason)
      else expect(await asked).toBe(false)
    })
  })
}

type Among = Pick<IndexQuery, 'only' | 'filter'>

/** As retrieval does. */
async function narrow(index: ChunkIndex, store: DocumentStore, filter: Filter): Promise<Among> {
  if (await index.filters(filter)) return { filter }
  return { only: await store.matchingKeys(filter) }
}

async function found(index: ChunkIndex, among: Among): Promise<number[]> {
  const matches = await index.search({ terms: queryOf(['all']), limit: 200, ...among })
  return matches.map(({ key }) => key).toSorted((a, b) => a - b)
}

async function near(index: ChunkIndex, among: Among): Promise<number[]> {
  const matches = await index.nearest({ vector: randomVector(1), limit: 200, ...among })
  return matches.map(({ key }) => key).toSorted((a, b) => a - b)
}

/** A document store beside the index; what is added becomes ready in it, and each chunk is in the index by a word and a vector. */
async function openStore(index: ChunkIndex) {
  const data = await createSqliteData()
  const store = await data.open({ queueLimit: 1_000 })
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
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
      await index.add(Uint32Array.from(keys), batchOf(chunks), all)
      await index.addVectors(vectorBatch(keys), all)
      return keys
    },
  }
}
