import type { ChunkIndex, ChunkMetadata } from '../../indexes/chunk-index.ts'
import { joinTermBatches } from '../../indexes/term-batch.ts'
import type {
  ChunkVectors,
  DocumentStore,
  IngestionJob,
  NewChunk,
} from '../../stores/document-store.ts'
import type { Prepared } from './prepare.ts'
import { IndexError } from './retry-policy.ts'

/** Documents that are ready together are published together, up to this many chunks. */
const BATCH_CHUNKS = 4_096

interface Dependencies {
  store: Pick<DocumentStore, 'reserveChunkKeys' | 'completeJob' | 'readChunks'>
  index: Pick<ChunkIndex, 'add' | 'addVectors' | 'remove'>
  log: { warn(fields: object, message: string): void }
}

export interface Publisher {
  /**
   * Makes a prepared document ready; `extracted` is the text that was read out of its file. Answers false if the claim is no longer current, because the document
   * was deleted or replaced meanwhile. Throws `IndexError`, and `UnconfirmedError` when the document store has
   * not said whether it took the chunks: until it has, they stay in the index.
   */
  publish(
    job: IngestionJob,
    prepared: Prepared,
    vectors?: ChunkVectors,
    extracted?: string,
  ): Promise<boolean>
  /** Whether the document store has the chunks of a document, of which these are the keys. */
  exist(keys: readonly number[]): Promise<boolean>
  /** Takes chunks out of the index that the document store lacks. Throws nothing: what stays is never shown. */
  forget(keys: readonly number[]): Promise<void>
}

/** The document store may or may not have taken a document's chunks. */
export class UnconfirmedError extends Error {
  override readonly name = 'UnconfirmedError'
  readonly keys: readonly number[]

  constructor(keys: readonly number[], cause: unknown) {
    super('the authority has not confirmed the chunks', { cause })
    this.keys = keys
  }
}

interface Entry {
  job: IngestionJob
  prepared: Prepared
  /** One per chunk, where there are any. */
  vectors: ChunkVectors | undefined
  extracted: string | undefined
  resolve: (isReady: boolean) => void
  reject: (error: unknown) => void
}

interface KeyedEntry extends Entry {
  chunks: NewChunk[]
}

/**
 * The index first, the document store after it: `ready` then means that the very next query finds the document.
 * Documents that come while others are being published wait and share the next round.
 */
export function createPublisher({ store, index, log }: Dependencies): Publisher {
  const waiting: Entry[] = []
  let running = false

  const runAll = async () => {
    if (running) return
    running = true
    // Lets the documents that were prepared together into the first round.
    await Promise.resolve()
    while (waiting.length > 0) {
      const entries = takeBatch(waiting)
      try {
        await publishTogether(entries)
      } catch (error) {
        for (const { reject } of entries) reject(error)
      }
    }
    running = false
  }

  const publishTogether = async (entries: readonly Entry[]) => {
    const keyed = withKeys(entries, await store.reserveChunkKeys(countChunks(entries)))
    const keys = keysOf(keyed)
    try {
      await index.add(
        Uint32Array.from(keys),
        joinTermBatches(entries.map(({ prepared }) => prepared.terms)),
        keyed.flatMap(metadataOf),
      )
      for (const entry of keyed) await addVectors(index, entry)
    } catch (cause) {
      await forget(keys)
      throw new IndexError('the index did not take the chunks', { cause })
    }
    const superseded = await Promise.all(keyed.map(complete))
    await forget(superseded.flat())
  }

  /** Answers the keys that are to leave the index. */
  const complete = async (entry: KeyedEntry): Promise<readonly number[]> => {
    const { job, chunks, vectors, extracted } = entry
    const keys = keysOf([entry])
    try {
      const superseded = await store.completeJob(job, chunks, vectors, extracted)
      entry.resolve(superseded !== undefined)
      return superseded ?? keys
    } catch (cause) {
      entry.reject(new UnconfirmedError(keys, cause))
      return []
    }
  }

  const forget = async (keys: readonly number[]) => {
    if (keys.length === 0) return
    try {
      await index.remove(keys)
    } catch (error) {
      log.warn({ err: error, chunks: keys.length }, 'the index keeps unused chunks until restart')
    }
  }

  return {
    forget,
    exist: async (keys) => (await store.readChunks(keys.slice(0, 1))).length > 0,
    publish(job, prepared, vectors, extracted) {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      waiting.push({ job, prepared, vectors, extracted, resolve, reject })
      void runAll()
      return promise
    },
  }
}

async function addVectors(index: Dependencies['index'], entry: KeyedEntry): Promise<void> {
  if (!entry.vectors) return
  const { dimension, values } = entry.vectors
  const keys = Uint32Array.from(keysOf([entry]))
  await index.addVectors({ keys, dimension, values }, metadataOf(entry))
}

function takeBatch(waiting: Entry[]): Entry[] {
  let chunks = 0
  let count = 0
  for (const { prepared } of waiting) {
    chunks += prepared.chunks.length
    if (count > 0 && chunks > BATCH_CHUNKS) break
    count++
  }
  return waiting.splice(0, count)
}

function countChunks(entries: readonly Entry[]): number {
  return entries.reduce((total, { prepared }) => total + prepared.chunks.length, 0)
}

function withKeys(entries: readonly Entry[], first: number): KeyedEntry[] {
  let key = first
  return entries.map((entry) => ({
    ...entry,
    chunks: entry.prepared.chunks.map((chunk, ordinal) => ({
      ...chunk,
      key: key++,
      ordinal,
    })),
  }))
}

/** Metadata changes with a revision, whose chunks have keys of their own: what the index is given stays true. */
function metadataOf({ job, chunks }: KeyedEntry): ChunkMetadata {
  return chunks.map(() => job.metadata)
}

function keysOf(entries: readonly KeyedEntry[]): number[] {
  return entries.flatMap(({ chunks }) => chunks.map(({ key }) => key))
}
