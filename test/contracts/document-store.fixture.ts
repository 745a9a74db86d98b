import { everything } from '@agent-server/lib/visibility.ts'
import type { IngestionJob, StoreCounts } from '@agent-server/stores'
import { beforeEach, expect } from 'vitest'
import type { DocumentStatus, NewChunk } from '../../packages/stores/src/document-store.ts'
import { type StoreData, type TestStore, useStores } from './open-store.ts'

export const QUEUE_LIMIT = 100
export const FAILURE = { code: 'upstream_failed', message: 'The embedder did not answer' }

export type StoreFixture = ReturnType<typeof useStore>

/** A store for each test. */
export function useStore(createData: () => Promise<StoreData>) {
  const open = useStores(createData)
  let opened: TestStore
  beforeEach(async () => {
    opened = await open({ queueLimit: QUEUE_LIMIT })
  })

  const claim = async (): Promise<IngestionJob> => {
    const [job] = await opened.store.claimJobs(1)
    if (!job) throw new Error('No job is due')
    return job
  }
  const chunksOf = async (...texts: string[]): Promise<NewChunk[]> => {
    const first = await opened.store.reserveChunkKeys(texts.length)
    return texts.map((text, ordinal) => {
      const start = ordinal * 10
      const end = start + text.length
      return { key: first + ordinal, ordinal, text, heading: 'Part > Section', start, end }
    })
  }

  return {
    get store() {
      return opened.store
    },
    close: () => opened.close(),
    reopen: (queueLimit = QUEUE_LIMIT) => opened.reopen({ queueLimit }),
    add: (id: string, text = `Text of ${id}`) => opened.store.add({ id, text }),
    claim,
    chunksOf,
    /** Ingests the oldest waiting document, answering its chunks' keys. */
    async ingest(...texts: string[]): Promise<number[]> {
      const job = await claim()
      const chunks = await chunksOf(...texts)
      expect(await opened.store.completeJob(job, chunks)).toEqual([])
      return chunks.map(({ key }) => key)
    },
    replaceContent: (id: string, text: string) => opened.store.put(everything(), { id, text }),
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
