import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { pause } from '../../lib/abort.ts'
import { compareKeys } from '../../lib/compare-keys.ts'
import { ignore } from '../../lib/ignore.ts'
import { createNotifier } from '../../lib/notifier.ts'
import { EmbedderError } from '../../models/embedder.ts'
import type { Readiness } from '../../schemas/operator/ops.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import type { Embedding } from './embedding.ts'

/** A batch has as many chunks as take about a second, which is how long new chunks wait for their turn. */
const BATCH_MS = 1_000
const MIN_BATCH = 8
const MAX_BATCH = 256
/** The weight of the latest batch in the reported rate. */
const FRESHNESS = 0.3
/** The minimum pause after a failure. */
const RETRY_MS = 1_000
/** If servers share a document store: the interval of scans for chunks left by others or by a server that stopped. */
const RESCAN_MS = 60_000
const MIN_RESCAN_MS = 5_000

const BEGUN =
  'chunks without vectors are found by keywords only until they are embedded; set EMBEDDING_MODEL=none to search by keywords only'

type Store = Pick<
  DocumentStore,
  'chunkKeys' | 'vectorKeys' | 'readChunks' | 'addVectors' | 'countWithoutVector'
>

interface VectorParts {
  store: Pick<DocumentStore, 'readChunks' | 'addVectors'>
  index: Pick<ChunkIndex, 'addVectors' | 'remove'>
  embedding: Pick<Embedding, 'documents'>
}

interface Dependencies extends VectorParts {
  store: Store
  embedding: Pick<Embedding, 'documents' | 'pauseMs'>
  /** Runs the work unless another server is running it; returns false in that case. */
  alone: (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<boolean>
  /** Called after some chunks have got their vectors. */
  onProgress: () => void
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
}

type Progress = NonNullable<Readiness['embeddings']>

export type VectorBacklog = ReturnType<typeof createVectorBacklog>

/**
 * Adds vectors to all chunks in the background, after ingestion has made them findable by keywords: the newest first,
 * in small batches. Missing vectors are read from the document store at the start, so a crash loses nothing.
 */
export function createVectorBacklog(dependencies: Dependencies) {
  const { embedding, alone, log } = dependencies
  const notifier = createNotifier()
  const work = createWork(dependencies)
  let isMaker = false
  let changes = 1
  let scanned = 0
  /** Whether there may be chunks, perhaps of another server, that no scan has seen. */
  const isStale = () => scanned < changes

  const scan = async () => {
    const seen = changes
    await work.scan()
    scanned = seen
  }
  const nextTurn = async (signal: AbortSignal) => {
    if (work.progress().missing > 0) await work.makeSome(signal)
    if (isStale() && work.scanAge() > MIN_RESCAN_MS) await scan()
    else if (work.progress().missing === 0) {
      await notifier.wait(isStale() ? MIN_RESCAN_MS : RESCAN_MS)
    }
  }
  const makeAll = async (signal: AbortSignal) => {
    isMaker = true
    signal.addEventListener('abort', notifier.notify)
    try {
      await scan()
      await work.report(signal)
      while (!signal.aborted) await nextTurn(signal)
    } finally {
      isMaker = false
      signal.removeEventListener('abort', notifier.notify)
    }
  }
  const makeOrWait = async (signal: AbortSignal) => {
    if (await alone(makeAll, signal)) return
    await scan()
    await notifier.wait(RESCAN_MS)
    if (isStale()) await pause(MIN_RESCAN_MS, signal)
  }
  const recover = async (error: unknown, signal: AbortSignal) => {
    if (signal.aborted) return
    if (work.failed(error)) log.warn({ err: error }, 'embedding failed; retrying')
    await ignore(pause(Math.max(RETRY_MS, embedding.pauseMs()), signal), 'only the signal ends it')
  }

  return {
    /** Called when chunks, which have no vector yet, become findable by keywords. */
    published(keys: readonly number[]): void {
      // Chunks published before are found by the first scan.
      if (!isMaker) return
      work.add(keys)
      notifier.notify()
    },
    /** Called when another server may have published chunks. */
    changed(): void {
      changes++
      notifier.notify()
    },
    progress(): Progress {
      const known = work.progress()
      return isStale() && known.state === 'done' ? { ...known, state: 'embedding' } : known
    },
    missingOf: work.missingOf,
    /** Makes vectors until `signal` is aborted. Never throws: failures are reported and retried. */
    async run(signal: AbortSignal): Promise<void> {
      signal.addEventListener('abort', notifier.notify, { once: true })
      while (!signal.aborted) {
        await makeOrWait(signal).catch((error: unknown) => recover(error, signal))
      }
    },
  }
}

/** What is left to do, and how to do one batch of it. */
function createWork(dependencies: Dependencies) {
  const { store, onProgress, log } = dependencies
  const missing = createWorklist()
  /** The keys of chunks that the model refused, with the ids of their documents. */
  const refused = new Map<number, string>()
  const isWanted = (key: number) => !refused.has(key)
  /** The chunks in flight; the document store may have some of their vectors before the index does. */
  let underWay: readonly StoredChunk[] = []
  let reason: string | undefined
  let pace = { perSecond: 0, size: MIN_BATCH }
  let scannedAt = 0

  const makeSome = async (signal: AbortSignal) => {
    const keys = missing.take(pace.size)
    const begun = performance.now()
    try {
      underWay = await store.readChunks(keys)
      const bad = await addVectors(dependencies, underWay, signal)
      for (const { key, documentId } of bad) refused.set(key, documentId)
    } catch (error) {
      missing.add(keys)
      throw error
    } finally {
      underWay = []
    }
    pace = nextPace(pace.perSecond, keys.length, performance.now() - begun)
    reason = undefined
    onProgress()
  }

  const progress = (): Progress => {
    const left = missing.size() + underWay.length
    return {
      state: reason !== undefined ? 'waiting' : left > 0 ? 'embedding' : 'done',
      missing: left,
      refused: refused.size,
      ...(left > 0 && pace.perSecond > 0 && { seconds: Math.ceil(left / pace.perSecond) }),
      ...(reason !== undefined && { reason }),
    }
  }

  return {
    makeSome,
    progress,
    add: missing.add,
    scanAge: () => performance.now() - scannedAt,
    async scan() {
      scannedAt = performance.now()
      const before = missing.size()
      const known = await store.chunkKeys()
      const lacking = compareKeys(await store.vectorKeys(), known).missing
      missing.replace(before, lacking.filter(isWanted))
      if (missing.size() === 0) reason = undefined
    },
    /** Logs how much there is to do, after a first batch has shown how fast it goes. */
    async report(signal: AbortSignal) {
      const chunks = missing.size()
      if (chunks === 0) return
      await makeSome(signal)
      log.info({ chunks, seconds: progress().seconds ?? 0 }, BEGUN)
    },
    /** Remembers the reason; returns whether it is a new one. */
    failed(error: unknown): boolean {
      const last = reason
      reason = error instanceof Error ? error.message : String(error)
      return reason !== last
    },
    /** How many chunks of a document will get a vector but have none yet. */
    async missingOf(id: string): Promise<number> {
      const without = await store.countWithoutVector(id)
      const keys = [...refused].flatMap(([key, document]) => (document === id ? [key] : []))
      const left = without - (keys.length > 0 ? (await store.readChunks(keys)).length : 0)
      return Math.max(left, underWay.filter(({ documentId }) => documentId === id).length)
    },
  }
}

function nextPace(last: number, chunks: number, milliseconds: number) {
  const rate = (chunks * 1_000) / Math.max(1, milliseconds)
  const size = Math.round(Math.min(MAX_BATCH, Math.max(MIN_BATCH, (rate * BATCH_MS) / 1_000)))
  return { perSecond: last === 0 ? rate : last + FRESHNESS * (rate - last), size }
}

/** Keys of chunks; the newest are taken first. */
function createWorklist() {
  let keys: number[] = []
  return {
    size: () => keys.length,
    /** Replaces the first `count` keys by `others`, and keeps those added since, in order. */
    replace(count: number, others: readonly number[]) {
      keys = [...new Set([...others, ...keys.slice(count)])].sort((a, b) => a - b)
    },
    add(more: readonly number[]) {
      for (const key of more) keys.push(key)
    },
    take: (count: number) => keys.splice(-count),
  }
}

/**
 * Adds vectors to these chunks and returns the chunks that the model refuses, found by bisection. Vectors go to the
 * document store first, so that an index that replaces this one meanwhile, or is completed after a crash, gets them.
 */
export async function addVectors(
  parts: VectorParts,
  chunks: readonly StoredChunk[],
  signal: AbortSignal,
): Promise<StoredChunk[]> {
  if (chunks.length === 0) return []
  const { store, index, embedding } = parts
  try {
    const { model, ...vectors } = await embedding.documents(chunks, signal)
    const batch = { keys: Uint32Array.from(chunks, ({ key }) => key), ...vectors }
    await store.addVectors(batch, model)
    await index.addVectors(batch)
    // Chunks that were removed in the meantime may have been added to the index again.
    const kept = new Set((await store.readChunks([...batch.keys])).map(({ key }) => key))
    const gone = [...batch.keys].filter((key) => !kept.has(key))
    if (gone.length > 0) await index.remove(gone)
    return []
  } catch (error) {
    if (!(error instanceof EmbedderError && error.kind === 'refused')) throw error
    if (chunks.length === 1) return [...chunks]
    const middle = Math.ceil(chunks.length / 2)
    const first = await addVectors(parts, chunks.slice(0, middle), signal)
    return [...first, ...(await addVectors(parts, chunks.slice(middle), signal))]
  }
}
