import { pause, repeat } from '@agent-server/lib/abort.ts'
import { batched, forEachBatch } from '@agent-server/lib/batches.ts'
import { compareKeys } from '@agent-server/lib/compare-keys.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex } from '@agent-server/search'
import type { DocumentStore, OpenedStore } from '@agent-server/stores'
import type { Preparer } from './preparer.ts'
import { untilAvailable } from './retry-policy.ts'

/** Chunks read, analysed and added at a time. */
const BATCH_CHUNKS = 512
/** Batches in flight at once, so that reading, analysing and adding overlap. */
const CONCURRENCY = 3
const BATCH_REMOVALS = 10_000
const PROGRESS_LOG_MS = 5_000
const RETRY_AFTER_SECONDS = 5

interface Dependencies {
  store: Pick<DocumentStore, 'chunkKeys' | 'readChunks' | 'vectorKeys' | 'readVectors'>
  index: Pick<ChunkIndex, 'keys' | 'add' | 'remove' | 'vectorKeys' | 'addVectors'>
  preparer: Pick<Preparer, 'analyse'>
  /** Whether vectors are searched too. */
  hybrid?: boolean
  /** Set if other servers may add to the index: removes unknown chunks once it is certain that no server owns them. */
  sweep?: { suspect(keys: readonly number[]): void } | undefined
  onProgress?: (progress: ReconciliationProgress) => void
  log: Pick<Log, 'info'>
}

interface ReconciliationProgress {
  /** While vectors are being added, keyword search is already complete. */
  state: 'ready' | 'rebuilding' | 'adding-vectors'
  /** Chunks and vectors added so far, of those that the index lacked. */
  done: number
  total: number
  /** Chunks and vectors that were already in the index. */
  present: number
}

export function createReconciliation(dependencies: Dependencies) {
  const { index, hybrid = false, sweep, onProgress, log } = dependencies
  let progress: ReconciliationProgress = { state: 'rebuilding', done: 0, total: 0, present: 0 }
  const move = (change: Partial<ReconciliationProgress>) => {
    progress = { ...progress, ...change }
    onProgress?.(progress)
  }

  const removeAll = async (keys: readonly number[], signal: AbortSignal) => {
    if (sweep) return sweep.suspect(keys)
    await removeKeys(index, keys, signal)
    if (keys.length > 0)
      log.info({ chunks: keys.length }, 'removed unknown chunks from the search index')
  }

  const rebuild = async (lacked: Missing, signal: AbortSignal) => {
    const onAdded = (count: number) => move({ done: progress.done + count })
    const start = performance.now()
    const report = (message: string) => log.info(rate(progress, start), message)
    const lacking = { chunks: lacked.chunks.length, vectors: lacked.vectors.length }
    log.info(lacking, 'search index lacks chunks or vectors; adding them')
    const timer = setInterval(report, PROGRESS_LOG_MS, 'adding missing chunks to the search index')
    try {
      await addAll(lacked.chunks, (keys) => addTerms(dependencies, keys), onAdded, signal)
      if (lacked.vectors.length > 0) move({ state: 'adding-vectors' })
      await addAll(lacked.vectors, (keys) => addVectors(dependencies, keys), onAdded, signal)
    } finally {
      clearInterval(timer)
    }
    report('the search index is complete')
    // Chunks that were deleted while they were being added are in the index again, as orphans.
    await removeAll((await compare(dependencies, false)).orphans, signal)
  }

  return {
    /**
     * Makes the index match the document store; run before ingestion begins. Rejects with the reason of `signal` and
     * with whatever a dependency throws; in either case, another run continues where this one stopped.
     */
    async run(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      const { orphans, missing, existing } = await compare(dependencies, hybrid)
      const total = missing.chunks.length + missing.vectors.length
      const state = missing.chunks.length > 0 ? 'rebuilding' : 'adding-vectors'
      move({ state, done: 0, total, present: existing - total })
      await removeAll(orphans, signal)
      if (total > 0) await rebuild(missing, signal)
      move({ state: 'ready' })
    },
    progress: () => progress,
    /** Marks a part of the index as lost: searches that need it are refused until the next run. */
    lost(part: 'lexical' | 'vectors') {
      const state = part === 'lexical' ? 'rebuilding' : 'adding-vectors'
      move({ state, done: 0, total: 0, present: 0 })
    },
    /** For readiness, and before a search: throws AppError `index_not_ready` until keyword search finds every chunk. */
    async check(): Promise<void> {
      if (progress.state === 'rebuilding') throw notReady(progress)
    },
    /** Like `check`, but until a run has succeeded and a vector search can find every chunk too. */
    async checkVectors(): Promise<void> {
      if (progress.state !== 'ready') throw notReady(progress)
    },
  }
}

function notReady({ state, done, total }: ReconciliationProgress): AppError {
  const what =
    state === 'rebuilding' ? 'The search index is being rebuilt' : 'Vectors are being added'
  return new AppError('index_not_ready', `${what}: ${done} of ${total} chunks done`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })
}

interface Missing {
  chunks: readonly number[]
  vectors: readonly number[]
}

/** Reads the document store first: whatever it contains was added to the index before that. */
async function compare({ store, index }: Dependencies, hybrid: boolean) {
  const known = await store.chunkKeys()
  const vectors = hybrid ? await store.vectorKeys() : new Uint32Array()
  const [words, held] = await Promise.all([index.keys(), index.vectorKeys()])
  const terms = compareKeys(words, known)
  const missing: Missing = { chunks: terms.missing, vectors: compareKeys(held, vectors).missing }
  const orphans = [...new Set([...terms.orphans, ...compareKeys(held, known).orphans])]
  return { orphans, missing, existing: known.length + vectors.length }
}

/** Adds in batches, several at a time. Rejects with the first error and then starts no more batches. */
async function addAll(
  keys: readonly number[],
  add: (keys: readonly number[]) => Promise<void>,
  onAdded: (count: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const batches = { size: BATCH_CHUNKS, workers: CONCURRENCY }
  await forEachBatch(keys, batches, async (batch) => {
    signal.throwIfAborted()
    await add(batch)
    onAdded(batch.length)
  })
}

async function addTerms({ store, index, preparer }: Dependencies, keys: readonly number[]) {
  const { chunks } = await store.readChunks(everything(), keys)
  if (chunks.length === 0) return
  await index.add(
    Uint32Array.from(chunks, ({ key }) => key),
    await preparer.analyse(chunks),
    chunks,
  )
}

async function addVectors({ store, index }: Dependencies, keys: readonly number[]) {
  const vectors = await store.readVectors(keys)
  if (vectors.keys.length > 0) await index.addVectors(vectors)
}

async function removeKeys(
  index: Pick<ChunkIndex, 'remove'>,
  keys: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  for (const batch of batched(keys, BATCH_REMOVALS)) {
    signal.throwIfAborted()
    await index.remove(batch)
  }
}

function rate({ done, total }: ReconciliationProgress, start: number) {
  const seconds = (performance.now() - start) / 1_000
  const perSecond = seconds > 0 ? Math.round(done / seconds) : 0
  return { done, total, percent: Math.floor((100 * done) / total), perSecond }
}

/**
 * Another server may hold a claim whose keys are already in the index but not yet in the document store. The gap is
 * short; however slow both are, no claim takes as long as this.
 */
const GRACE_MS = 3_600_000

interface SweepDependencies {
  store: Pick<DocumentStore, 'chunkKeys'>
  index: Pick<ChunkIndex, 'remove'>
  log: Pick<Log, 'info' | 'warn'>
  graceMs?: number
}

/** Removes chunks from a shared index that the document store lacks. There is no hurry: they are never shown. */
export function createOrphanSweep({ store, index, log, graceMs = GRACE_MS }: SweepDependencies) {
  const suspects = new Set<number>()

  const sweep = async (signal: AbortSignal) => {
    const suspected = Uint32Array.from(suspects).sort()
    const { orphans } = compareKeys(suspected, await store.chunkKeys())
    await removeKeys(index, orphans, signal)
    suspects.clear()
    log.info({ chunks: orphans.length }, 'removed unknown chunks from the search index')
  }

  return {
    /** Notes keys that are in the index but not in the document store. */
    suspect(keys: readonly number[]): void {
      for (const key of keys) suspects.add(key)
    },
    /** Removes the suspects once no claim can hold them any more, unless `signal` is aborted first. */
    async run(signal: AbortSignal): Promise<void> {
      if (suspects.size === 0) return
      try {
        await pause(graceMs, signal)
        await untilAvailable(() => sweep(signal), log, signal)
      } catch (error) {
        // Whatever is left is found again at the next start.
        if (!signal.aborted) log.warn({ err: error }, 'unused chunks remain in the index')
      }
    },
  }
}

/** The interval at which a shared index is checked for being lost. */
const LOOK_MS = 3_000

interface WatchDependencies {
  /** Which part is gone, or that the index was replaced; throws if that cannot be determined. */
  lost(signal: AbortSignal): Promise<'lexical' | 'vectors' | 'replaced' | undefined>
  reconciliation: Pick<ReturnType<typeof createReconciliation>, 'lost'>
  /** Recreates what is gone and adds what is missing. */
  heal(): Promise<void>
  log: Pick<Log, 'warn' | 'error'>
}

/** Checks until `signal` is aborted whether an index that others can remove still exists, and recreates it if not. */
async function watchSharedIndex(
  { lost, reconciliation, heal, log }: WatchDependencies,
  signal: AbortSignal,
): Promise<void> {
  const look = async () => {
    try {
      const part = await ignore(lost(signal), 'an index that does not answer is not lost')
      if (!part) return
      log.warn({ part }, 'the search index was lost or replaced; adding the missing chunks')
      if (part !== 'replaced') reconciliation.lost(part)
      await heal()
    } catch (error) {
      if (!signal.aborted) log.error({ err: error }, 'synchronizing the search index failed')
    }
  }
  await repeat(look, { firstMs: LOOK_MS, everyMs: LOOK_MS }, signal)
}

interface KeptIndex {
  index: Pick<ChunkIndex, 'open' | 'lost' | 'shared'>
  store: Pick<OpenedStore, 'retireChunkKeys'>
  reconciliation: ReturnType<typeof createReconciliation>
  log: Dependencies['log'] & WatchDependencies['log']
}

/** Keeps the index complete: from the start on, and whenever a shared one has been lost. */
export function createIndexKeeper({ index, store, reconciliation, log }: KeptIndex) {
  const bringUpToDate = async (signal: AbortSignal, isLost: boolean) => {
    const isNew = await index.open(signal)
    // Otherwise another server might add chunks to the lost index and complete them only after
    // the comparison.
    if (isNew || isLost) await store.retireChunkKeys()
    await reconciliation.run(signal)
  }
  const keep = (signal: AbortSignal, isLost: boolean) =>
    untilAvailable(() => bringUpToDate(signal, isLost), log, signal)

  return {
    /** Opens the index and adds what is missing. */
    open: (signal: AbortSignal) => keep(signal, false),
    /** Repeats that whenever a shared index has been lost, until `signal` is aborted. */
    async watch(signal: AbortSignal) {
      const heal = () => keep(signal, true)
      const { lost } = index
      if (index.shared) await watchSharedIndex({ lost, reconciliation, heal, log }, signal)
    },
  }
}
