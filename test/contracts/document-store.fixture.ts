import { afterEach, beforeEach, expect } from 'vitest'
import type {
  DocumentStatus,
  DocumentStore,
  IngestionJob,
  NewChunk,
  StoreCounts,
} from '../../src/stores/document-store.ts'

/** One test's own data, empty at first. */
export interface StoreData {
  /** Opens the store over the data; the suite closes it. */
  open(options: { queueLimit: number }): Promise<DocumentStore>
  remove(): Promise<void>
}

export const QUEUE_LIMIT = 100
export const FAILURE = { code: 'upstream_failed', message: 'The embedder did not answer' }

export type StoreFixture = ReturnType<typeof useStore>

/** Opens a store before each test and closes it afterwards. */
export function useStore(createData: () => Promise<StoreData>) {
  let data: StoreData
  let store: DocumentStore

  beforeEach(async () => {
    data = await createData()
    store = await data.open({ queueLimit: QUEUE_LIMIT })
  })
  afterEach(async () => {
    await store.close()
    await data.remove()
  })

  const claim = async (): Promise<IngestionJob> => {
    const [job] = await store.claimJobs(1)
    if (!job) throw new Error('No job is due')
    return job
  }
  const chunksOf = async (...texts: string[]): Promise<NewChunk[]> => {
    const first = await store.reserveChunkKeys(texts.length)
    return texts.map((text, ordinal) => {
      const start = ordinal * 10
      const end = start + text.length
      return { key: first + ordinal, ordinal, text, heading: 'Part > Section', start, end }
    })
  }

  return {
    get store() {
      return store
    },
    /** Closes the store and opens it again over the same data, as a restart does. */
    async reopen(queueLimit = QUEUE_LIMIT): Promise<void> {
      await store.close()
      store = await data.open({ queueLimit })
    },
    add: (id: string, text = `Text of ${id}`) => store.add({ id, text }),
    claim,
    chunksOf,
    /** Ingests the oldest waiting document, answering its chunks' keys. */
    async ingest(...texts: string[]): Promise<number[]> {
      const job = await claim()
      const chunks = await chunksOf(...texts)
      expect(await store.completeJob(job, chunks)).toEqual([])
      return chunks.map(({ key }) => key)
    },
    replaceContent: (id: string, text: string) => store.put({ id, text }),
  }
}

export function countsOf(
  counts: Partial<Record<DocumentStatus | 'chunks' | 'jobs', number>>,
): StoreCounts {
  const { chunks = 0, jobs = 0, ...documents } = counts
  return {
    documents: { pending: 0, processing: 0, ready: 0, failed: 0, ...documents },
    chunks,
    jobs,
  }
}
