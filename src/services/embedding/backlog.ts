import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { pause } from '../../lib/abort.ts'
import { createNotifier } from '../../lib/notifier.ts'
import { EmbedderError } from '../../models/embedder.ts'
import type { Readiness } from '../../schemas/operator/ops.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import { compareKeys } from '../ingestion/index-sync.ts'
import type { Embedding } from './embedding.ts'

/** Chunks embedded at a time: as many as take about a second, which is how long the newest waits for its turn. */
const BATCH_MS = 1_000
const MIN_BATCH = 8
const MAX_BATCH = 256
/** The weight of the latest batch in the rate that is reported. */
const FRESHNESS = 0.3
/** The least pause after a failure. */
const RETRY_MS = 1_000
/** Where servers share a document store: between two looks for what the others left, and for one that has stopped. */
const RESCAN_MS = 60_000
const MIN_RESCAN_MS = 5_000

const BEGUN =
  'chunks without a vector are found by words, and by meaning when they have one; EMBEDDING_MODEL=none leaves it at words'

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
  /** Does the work while no other server does it; answers false where one does. */
  alone: (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<boolean>
  /** Some chunks have got their vectors. */
  onProgress: () => void
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
}

export type VectorBacklog = ReturnType<typeof createVectorBacklog>

/**
 * Gives every chunk its vector, behind the ingestion that has made it found by words: the newest first, a few at a time.
 * What lacks one is read from the document store at the start, so that nothing is lost by a crash.
 */
export function createVectorBacklog(dependencies: Dependencies) {
  const { embedding, alone, log } = dependencies
  const notifier = createNotifier()
  const work = createWork(dependencies)
  let isMaker = false
  let isStale = false

  const nextTurn = async (signal: AbortSignal) => {
    if (work.progress().missing > 0) await work.makeSome(signal)
    if (isStale && work.scanAge() > MIN_RESCAN_MS) {
      isStale = false
      await work.scan()
    } else if (work.progress().missing === 0) {
      await notifier.wait(isStale ? MIN_RESCAN_MS : RESCAN_MS)
    }
  }
  const makeAll = async (signal: AbortSignal) => {
    isMaker = true
    signal.addEventListener('abort', notifier.notify)
    try {
      await work.scan()
      await work.report(signal)
      while (!signal.aborted) await nextTurn(signal)
    } finally {
      isMaker = false
      signal.removeEventListener('abort', notifier.notify)
    }
  }
  const makeOrWait = async (signal: AbortSignal) => {
    if (await alone(makeAll, signal)) return
    await work.scan()
    await pause(RESCAN_MS, signal)
  }
  const recover = async (error: unknown, signal: AbortSignal) => {
    if (signal.aborted) return
    if (work.failed(error)) log.warn({ err: error }, 'vectors cannot be made now; trying again')
    await pause(Math.max(RETRY_MS, embedding.pauseMs()), signal).catch(() => undefined)
  }

  return {
    /** These chunks are found by words from now on, and have no vector. */
    published(keys: readonly number[]): void {
      // What was published before is found by the first scan.
      if (!isMaker) return
      work.add(keys)
      notifier.notify()
    },
    /** Another server may have published some. */
    changed(): void {
      isStale = true
    },
    progress: work.progress,
    missingOf: work.missingOf,
    /** Makes vectors until `signal` is aborted. Throws nothing: a failure is reported and tried again. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await makeOrWait(signal).catch((error: unknown) => recover(error, signal))
      }
    },
  }
}

/** What is left to do, and one turn of doing it. */
function createWork(dependencies: Dependencies) {
  const { store, onProgress, log } = dependencies
  const missing = createWorklist()
  /** By key, with the document that each is of. */
  const refused = new Map<number, string>()
  const isWanted = (key: number) => !refused.has(key)
  /** The chunks whose vectors are being made; the document store may have some of these before the index has. */
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

  const progress = (): NonNullable<Readiness['meaning']> => {
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
    ...{ makeSome, progress, add: missing.add },
    scanAge: () => performance.now() - scannedAt,
    async scan() {
      scannedAt = performance.now()
      const before = missing.size()
      const known = await store.chunkKeys()
      const lacking = compareKeys(await store.vectorKeys(), known).missing
      missing.replace(before, lacking.filter(isWanted))
    },
    /** Says how much there is to do, once it is known how fast it goes. */
    async report(signal: AbortSignal) {
      const chunks = missing.size()
      if (chunks === 0) return
      await makeSome(signal)
      log.info({ chunks, seconds: progress().seconds ?? 0 }, BEGUN)
    },
    /** Keeps the reason; answers whether it is a new one. */
    failed(error: unknown): boolean {
      const last = reason
      reason = error instanceof Error ? error.message : String(error)
      return reason !== last
    },
    /** How many chunks of a document will get a vector and have none yet. */
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

/** Keys of chunks, of which the newest are taken first. */
function createWorklist() {
  let keys: number[] = []
  return {
    size: () => keys.length,
    /** Puts `others` in the place of the first `count`, in order with those that have come after these. */
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
 * Gives these chunks their vectors; answers those that the model refuses, each found out by itself. The document store
 * comes first: an index that takes another's place meanwhile is then given what it has, and so is one after a crash.
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
    await index.addVectors(
      batch,
      chunks.map(({ metadata }) => metadata),
    )
    // What was removed meanwhile may have come back into the index.
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
