import { AppError } from '../../errors.ts'
import type { ChunkIndex, ChunkMetadata } from '../../indexes/chunk-index.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import { untilAvailable } from './availability.ts'
import type { Preparer } from './preparer.ts'
import { compareKeys, type OrphanSweep } from './sweep-orphans.ts'

/** Chunks read, analysed and added at a time. */
const BATCH_CHUNKS = 512
/** Batches under way at once, so that reading, analysing and adding overlap. */
const CONCURRENCY = 3
const BATCH_REMOVALS = 10_000
const PROGRESS_LOG_MS = 5_000

interface Dependencies {
  store: Pick<DocumentStore, 'chunkKeys' | 'readChunks' | 'vectorKeys' | 'readVectors'>
  index: Pick<ChunkIndex, 'keys' | 'add' | 'remove' | 'vectorKeys' | 'addVectors' | 'keepsMetadata'>
  preparer: Pick<Preparer, 'analyse'>
  /** Whether vectors are searched, too. */
  hybrid?: boolean
  /** Where other servers may be adding to the index: takes unknown chunks out of it once it is certain that they are nobody's. */
  sweep?: Pick<OrphanSweep, 'suspect'> | undefined
  log: { info(fields: object, message: string): void }
}

type AdditionDependencies = {
  store: Pick<DocumentStore, 'readChunks' | 'readVectors'>
  index: Pick<ChunkIndex, 'add' | 'addVectors' | 'keepsMetadata'>
  preparer: Pick<Preparer, 'analyse'>
}

interface ReconciliationProgress {
  /** While vectors are added, search by words is whole already. */
  state: 'ready' | 'rebuilding' | 'adding-vectors'
  /** Chunks and vectors added so far of those that the index lacked. */
  done: number
  total: number
  /** Chunks and vectors that the index had already. */
  held: number
}

export interface Reconciliation {
  /**
   * Makes the index hold what the document store holds; run before ingestion begins. Rejects with the reason
   * of `signal`, and with what a part throws; either way it can be run again and goes on from there.
   */
  run(signal: AbortSignal): Promise<void>
  progress(): ReconciliationProgress
  /** For readiness: throws AppError `index_not_ready` until every chunk can be found by its words. */
  check(signal: AbortSignal): Promise<void>
  /** As `check`, until a run has ended well and every chunk can be found by its meaning, too. */
  checkVectors(): Promise<void>
}

export function createReconciliation(dependencies: Dependencies): Reconciliation {
  const { index, hybrid = false, sweep, log } = dependencies
  const additions = createAdditions(dependencies)
  const { compare, compareVectors } = createComparison(dependencies)
  let progress: ReconciliationProgress = {
    ...{ state: 'rebuilding', done: 0, total: 0, held: 0 },
  }

  const removeAll = async (keys: readonly number[], signal: AbortSignal) => {
    if (sweep) return sweep.suspect(keys)
    for (const batch of batchesOf(keys, BATCH_REMOVALS)) {
      signal.throwIfAborted()
      await index.remove(batch)
    }
    if (keys.length > 0) log.info({ chunks: keys.length }, 'search index rid of unknown chunks')
  }

  const rebuild = async (
    missing: readonly number[],
    missingVectors: readonly number[],
    signal: AbortSignal,
  ) => {
    const addAll = (keys: readonly number[], add: (keys: readonly number[]) => Promise<void>) =>
      workThrough(
        batchesOf(keys, BATCH_CHUNKS),
        async (batch) => {
          await add(batch)
          progress = { ...progress, done: progress.done + batch.length }
        },
        signal,
      )
    const begun = performance.now()
    const report = (message: string) => log.info(rate(progress, begun), message)
    report('search index lacks chunks; adding them')
    const timer = setInterval(report, PROGRESS_LOG_MS, 'adding chunks to the search index')
    try {
      await addAll(missing, additions.terms)
      if (missingVectors.length > 0) progress = { ...progress, state: 'adding-vectors' }
      await addAll(missingVectors, additions.vectors)
    } finally {
      clearInterval(timer)
    }
    report('search index is complete')
    // Chunks deleted while they were being added have come back as orphans.
    await removeAll((await compare()).orphans, signal)
  }

  return {
    async run(signal) {
      signal.throwIfAborted()
      const { orphans, missing, known } = await compare()
      const vectors = hybrid ? await compareVectors() : { missing: [], known: 0 }
      const total = missing.length + vectors.missing.length
      const held = known + vectors.known - total
      progress = { state: 'rebuilding', done: 0, total, held }
      await removeAll(orphans, signal)
      if (total > 0) await rebuild(missing, vectors.missing, signal)
      progress = { ...progress, state: 'ready' }
    },
    progress: () => progress,
    check: async () => refuseWhile(['rebuilding'], progress),
    checkVectors: async () => refuseWhile(['rebuilding', 'adding-vectors'], progress),
  }
}

function refuseWhile(
  states: readonly ReconciliationProgress['state'][],
  { state, done, total }: ReconciliationProgress,
): void {
  if (!states.includes(state)) return
  const what =
    state === 'rebuilding' ? 'The search index is being rebuilt' : 'Vectors are being added'
  throw new AppError('index_not_ready', `${what}: ${done} of ${total} chunks done`)
}

/** The document store is read first: what it has was put into the index before. */
function createComparison({ store, index }: Pick<Dependencies, 'store' | 'index'>) {
  return {
    async compare() {
      const known = await store.chunkKeys()
      const { orphans, missing } = compareKeys(await index.keys(), known)
      const vectors = compareKeys(await index.vectorKeys(), known)
      const unknown = [...new Set([...orphans, ...vectors.orphans])]
      return { orphans: unknown, missing, known: known.length }
    },
    async compareVectors() {
      const known = await store.vectorKeys()
      const { missing } = compareKeys(await index.vectorKeys(), known)
      return { missing, known: known.length }
    },
  }
}

/** Reads from the document store what the index lacks, and adds it. */
function createAdditions({ store, index, preparer }: AdditionDependencies) {
  return {
    async terms(keys: readonly number[]) {
      const chunks = await store.readChunks(keys)
      if (chunks.length === 0) return
      const terms = await preparer.analyse(chunks)
      const found = Uint32Array.from(chunks, ({ key }) => key)
      await index.add(found, terms, metadataIn(chunks, found))
    },
    async vectors(keys: readonly number[]) {
      const vectors = await store.readVectors(keys)
      const chunks = index.keepsMetadata ? await store.readChunks([...vectors.keys]) : []
      await index.addVectors(vectors, metadataIn(chunks, vectors.keys))
    },
  }
}

/** Of what was removed meanwhile there is none, nor does it matter. */
function metadataIn(chunks: readonly StoredChunk[], keys: Uint32Array): ChunkMetadata {
  const known = new Map(chunks.map(({ key, metadata }) => [key, metadata]))
  return Array.from(keys, (key) => known.get(key))
}

/** Works through the batches, some at a time. Rejects with the first error, after which no batch is begun. */
async function workThrough<Batch>(
  batches: Generator<Batch>,
  work: (batch: Batch) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const worker = async () => {
    for (const batch of batches) {
      signal.throwIfAborted()
      await work(batch)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

function* batchesOf(keys: readonly number[], size: number): Generator<number[]> {
  for (let start = 0; start < keys.length; start += size) yield keys.slice(start, start + size)
}

function rate({ done, total }: Pick<ReconciliationProgress, 'done' | 'total'>, begun: number) {
  const seconds = (performance.now() - begun) / 1_000
  return {
    done,
    total,
    percent: Math.floor((100 * done) / total),
    chunksPerSecond: seconds > 0 ? Math.round(done / seconds) : 0,
  }
}

/** What comes while the new index is filled is fetched in rounds, each shorter than the one before. */
const MAX_ROUNDS = 10
/** A round that adds no more than this is the last: the switch is near enough to what is there. */
const FEW = 200
const PROGRESS_MS = 500

type FillingStore = Pick<DocumentStore, 'chunkKeys' | 'readChunks' | 'vectorKeys' | 'readVectors'>
type FilledIndex = Pick<
  ChunkIndex,
  'keys' | 'add' | 'remove' | 'vectorKeys' | 'addVectors' | 'keepsMetadata'
>

export interface Filling {
  store: FillingStore
  preparer: Pick<Preparer, 'analyse'>
  /** Whether there are vectors. */
  hybrid: boolean
  /** How many chunks and vectors are in it, of how many; those that an earlier run has added are among them. */
  progress: (done: number, total: number) => void
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
}

interface Replacement extends Filling {
  /** Not served yet, and written by nobody else. */
  next: FilledIndex
  /** Puts it in the place of the one that serves; answers it under the name that servers use. */
  serve(): Promise<FilledIndex>
}

/**
 * Fills an index from the document store while another one serves, puts it in that one's place, and adds what
 * came in between. Throws the reason of `signal`; run again, it goes on from there.
 */
export async function replaceIndex(
  { serve, next, ...parts }: Replacement,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    if ((await fill(next, parts, signal)) <= FEW) break
  }
  await completeIndex(await serve(), parts, signal)
}

/** Adds what an index that serves lacks. What it holds beyond the document store may be the servers' and stays. */
export async function completeIndex(
  index: FilledIndex,
  parts: Filling,
  signal: AbortSignal,
): Promise<void> {
  await fill(index, { ...parts, sweep: { suspect: () => undefined } }, signal)
}

/** Answers how much was missing. */
async function fill(
  index: FilledIndex,
  { progress, ...parts }: Filling & { sweep?: { suspect(): void } },
  signal: AbortSignal,
): Promise<number> {
  const reconciliation = createReconciliation({ ...parts, index })
  const reportNow = () => report(reconciliation.progress(), progress)
  const timer = setInterval(reportNow, PROGRESS_MS)
  try {
    await untilAvailable(() => reconciliation.run(signal), parts.log, signal)
  } finally {
    clearInterval(timer)
  }
  reportNow()
  return reconciliation.progress().total
}

function report(
  { done, total, held }: ReconciliationProgress,
  progress: (done: number, total: number) => void,
): void {
  if (total > 0) progress(held + done, held + total)
}
