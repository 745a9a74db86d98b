import { join } from 'node:path'
import { everything } from '@agent-server/lib/visibility.ts'
import { createExtractor, type Extractor } from '@agent-server/readers'
import type { ChunkIndex } from '@agent-server/search'
import { createAnalyser, createEmbeddedIndex } from '@agent-server/search'
import type { DocumentStore, StoredDocument } from '@agent-server/stores'
import { onTestFinished } from 'vitest'
import {
  createSqliteData,
  type SqliteData,
} from '../../../packages/stores/test/sqlite/store-data.ts'
import type { SegmentText } from '../../../src/documents/ingestion/prepare-thread.ts'
import { createPreparer, type Preparer } from '../../../src/documents/ingestion/preparer.ts'
import { createSources } from '../../../src/documents/ingestion/segments.ts'
import {
  createIngestion,
  type Ingestion,
  type IngestionOptions,
  type IngestionOutcome,
} from '../../../src/documents/ingestion/worker.ts'

const LANGUAGE = 'english'
const analyser = createAnalyser(LANGUAGE)
/** Short enough for tests to wait for. */
const RETRY = { attempts: 5, backoff: { firstMs: 5, maxMs: 50, factor: 4 } }

export const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** The real parts that ingestion works with, over data of their own. */
export interface Parts {
  data: SqliteData
  store: DocumentStore
  index: ChunkIndex
  preparer: Preparer
  extractor: Extractor
}

/** Opens the parts; they are closed and their data removed after the test. */
export async function openParts(): Promise<Parts> {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  const store = await data.open({ queueLimit: 10_000 })
  const index = openIndex(data, store)
  const preparer = createPreparer({ language: LANGUAGE, deadlineMs: 20_000 })
  const extractor = createExtractor({ processes: 1, deadlineMs: 20_000 })
  onTestFinished(async () => {
    extractor.close()
    await preparer.close()
    await index.close()
    await store.close()
  })
  return { data, store, index, preparer, extractor }
}

function openIndex({ directory }: SqliteData, source: DocumentStore): ChunkIndex {
  return createEmbeddedIndex({
    directory: join(directory, 'index'),
    fingerprint: analyser.fingerprint,
    source,
    onCrash(error) {
      throw error
    },
  })
}

/** An ingestion under test, with the outcomes that it told. */
export interface Running extends Ingestion {
  outcomes: IngestionOutcome[]
  /** Resolves when so many claims have ended like this. */
  until(status: IngestionOutcome['status'], count?: number): Promise<void>
}

/** Makes an ingestion of the parts, some of them perhaps replaced; it is stopped after the test. */
export function createRunning(parts: Parts, options: Partial<IngestionOptions> = {}): Running {
  const outcomes: IngestionOutcome[] = []
  let onChange = Promise.withResolvers<void>()
  const ingestion = createIngestion({
    store: parts.store,
    index: parts.index,
    preparer: parts.preparer,
    openSource: createSources({ store: parts.store, extractor: parts.extractor }),
    log: silent,
    concurrency: 8,
    retry: RETRY,
    ...options,
    onOutcome(outcome) {
      outcomes.push(outcome)
      options.onOutcome?.(outcome)
      onChange.resolve()
      onChange = Promise.withResolvers()
    },
  })
  onTestFinished(() => ingestion.stop(0))
  const countOf = (status: IngestionOutcome['status']) =>
    outcomes.filter((outcome) => outcome.status === status).length
  return {
    ...ingestion,
    outcomes,
    async until(status, count = 1) {
      while (countOf(status) < count) await onChange.promise
    },
  }
}

/** The identifiers of the documents whose chunks a search finds, read from the document store as retrieval does. */
export async function find({ index, store }: Parts, query: string): Promise<string[]> {
  const terms = analyser.query(query)
  const { candidates } = await index.search(everything(), {
    mode: 'lexical',
    terms,
    limit: 100,
  })
  const keys = candidates.map(({ key }) => key)
  const { chunks } = await store.readChunks(everything(), keys)
  return chunks.map(({ documentId }) => documentId)
}

export async function getDocument({ store }: Parts, id: string): Promise<StoredDocument> {
  const document = await store.get(everything(), id)
  if (!document) throw new Error(`There is no document ${id}`)
  return document
}

/** The keys that the index and the document store hold. */
export async function keysOf({ index, store }: Parts) {
  const [held, known] = await Promise.all([index.keys(), store.chunkKeys()])
  return { index: Array.from(held), known: Array.from(known) }
}

/** The preparer of the parts, which gets what `change` makes of each segment. */
export function preparerAfter(
  { preparer }: Parts,
  change: (segment: SegmentText) => SegmentText | Promise<SegmentText>,
): Pick<Preparer, 'prepare'> {
  return {
    prepare: async (segment, signal) => preparer.prepare(await change(segment), signal),
  }
}

/** A function that fails so many times before it does what `work` does. */
export function failingFirst<Input extends unknown[], Output>(
  times: number,
  work: (...input: Input) => Promise<Output>,
  error = new Error('out of order'),
): (...input: Input) => Promise<Output> {
  let left = times
  return async (...input) => {
    if (left-- > 0) throw error
    return work(...input)
  }
}

/** Holds up whoever calls `pass` until it is opened; `reached` resolves with the first call. */
export function createGate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: opened.resolve,
    async pass() {
      reached.resolve()
      await opened.promise
    },
  }
}
