import { everything } from '@agent-server/lib/visibility.ts'
import { afterAll, beforeEach, expect } from 'vitest'
import type {
  DocumentStatus,
  IngestionJob,
  NewChunk,
  StoreCounts,
} from '../../src/stores/document-store.ts'
import type { OpenedStore } from '../../src/stores/opened-store.ts'
import type { StoreData } from './open-store.ts'

export const QUEUE_LIMIT = 100
export const FAILURE = { code: 'upstream_failed', message: 'The embedder did not answer' }

export type StoreFixture = ReturnType<typeof useStore>

/** An empty store for each test; the same one, where it can be emptied and was not opened again. */
export function useStore(createData: () => Promise<StoreData>) {
  let current: { data: StoreData; store: OpenedStore; isAsOpened: boolean } | undefined
  const opened = () => {
    if (!current) throw new Error('No test has begun')
    return current
  }
  const end = async () => {
    const ending = current
    current = undefined
    await ending?.store.close()
    await ending?.data.remove()
  }
  beforeEach(async () => {
    if (current?.isAsOpened && current.data.empty) return current.data.empty()
    await end()
    const data = await createData()
    const store = await data.open({ queueLimit: QUEUE_LIMIT })
    current = { data, store, isAsOpened: true }
  })
  afterAll(end)

  const claim = async (): Promise<IngestionJob> => {
    const [job] = await opened().store.claimJobs(1)
    if (!job) throw new Error('No job is due')
    return job
  }
  const chunksOf = async (...texts: string[]): Promise<NewChunk[]> => {
    const first = await opened().store.reserveChunkKeys(texts.length)
    return texts.map((text, ordinal) => {
      const start = ordinal * 10
      const end = start + text.length
      return { key: first + ordinal, ordinal, text, heading: 'Part > Section', start, end }
    })
  }

  return {
    get store() {
      return opened().store
    },
    close(): Promise<void> {
      const closed = opened()
      closed.isAsOpened = false
      return closed.store.close()
    },
    /** Closes the store and opens it again over the same data, as a restart does. */
    async reopen(queueLimit = QUEUE_LIMIT): Promise<OpenedStore> {
      const reopened = opened()
      reopened.isAsOpened = false
      await reopened.store.close()
      reopened.store = await reopened.data.open({ queueLimit })
      return reopened.store
    },
    add: (id: string, text = `Text of ${id}`) => opened().store.add({ id, text }),
    claim,
    chunksOf,
    /** Ingests the oldest waiting document, answering its chunks' keys. */
    async ingest(...texts: string[]): Promise<number[]> {
      const job = await claim()
      const chunks = await chunksOf(...texts)
      expect(await opened().store.completeJob(job, chunks)).toEqual([])
      return chunks.map(({ key }) => key)
    },
    replaceContent: (id: string, text: string) => opened().store.put(everything(), { id, text }),
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
