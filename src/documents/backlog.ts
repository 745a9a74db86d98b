import { pause } from '@agent-server/lib/abort.ts'
import { compareKeys } from '@agent-server/lib/compare-keys.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createNotifier } from '@agent-server/lib/notifier.ts'
import { messageOf } from '@agent-server/lib/system-error.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore, StoredChunk } from '../stores/document-store.ts'

/** A batch has as many chunks as take about a second, which is how long new chunks wait for their turn. */
const BATCH_MS = 1_000
/** The weight of the latest batch in the reported rate. */
const FRESHNESS = 0.3
/** The minimum pause after a failure. */
const RETRY_MS = 1_000
/** If servers share a document store: the interval of scans for chunks left by others or by a server that stopped. */
const RESCAN_MS = 60_000
const DEFAULT_RESCAN_MS = 5_000

/** Something that every chunk gets after its document became ready, such as a vector. */
interface Task {
  /** The key of every chunk that has it, ascending. */
  doneKeys(): Promise<Uint32Array>
  /** Adds it to these chunks; returns those that the model refuses. */
  work(chunks: readonly StoredChunk[], signal: AbortSignal): Promise<readonly StoredChunk[]>
  /** How much longer to wait before calling the model, in milliseconds. */
  pauseMs(): number
  /** The fewest and the most chunks that are worked on at a time. */
  batch: { least: number; most: number }
  /** The minimum time between scans for new chunks, in milliseconds. */
  rescanMs?: number
  /** Log messages: when there is work, and when it fails. */
  messages: { start: string; failed: string }
}

interface Dependencies {
  store: Pick<DocumentStore, 'chunkKeys' | 'readChunks'>
  task: Task
  /** Runs the work unless another server is running it; returns false in that case. */
  exclusively: (
    work: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<boolean>
  /** Called after some chunks were completed. */
  onProgress: () => void
  log: Pick<Log, 'info' | 'warn'>
}

interface Progress {
  state: 'done' | 'working' | 'waiting'
  missing: number
  refused: number
  seconds?: number
  reason?: string
}

/**
 * Completes all chunks in the background, after ingestion has made them findable: the newest first, in small batches.
 * What is missing is read from the document store at the start, so a crash loses nothing.
 */
export function createBacklog(dependencies: Dependencies) {
  const { task, exclusively, log } = dependencies
  const { rescanMs = DEFAULT_RESCAN_MS } = task
  const notifier = createNotifier()
  const work = createWork(dependencies)
  let isMaker = false
  let changes = 1
  let scanned = 0
  /** Whether there may be chunks, perhaps of another server, that no scan has seen. */
  const isStale = () => scanned < changes

  const scan = async () => {
    const changesBefore = changes
    await work.scan()
    scanned = changesBefore
  }
  const nextTurn = async (signal: AbortSignal) => {
    if (work.progress().missing > 0) await work.makeSome(signal)
    if (isStale() && work.scanAge() > rescanMs) await scan()
    else if (work.progress().missing === 0) {
      await notifier.wait(isStale() ? rescanMs : RESCAN_MS)
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
    if (await exclusively(makeAll, signal)) return
    await scan()
    await notifier.wait(RESCAN_MS)
    if (isStale()) await pause(rescanMs, signal)
  }
  const recover = async (error: unknown, signal: AbortSignal) => {
    if (signal.aborted) return
    if (work.failed(error)) log.warn({ err: error }, task.messages.failed)
    await ignore(pause(Math.max(RETRY_MS, task.pauseMs()), signal), 'only the signal ends it')
  }

  return {
    /** Called when new chunks become findable. */
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
      const progress = work.progress()
      return isStale() && progress.state === 'done' ? { ...progress, state: 'working' } : progress
    },
    /** The chunks that were refused, and those in flight. */
    refused: work.refused,
    underWay: work.underWay,
    /** Works until `signal` is aborted. Never throws: failures are reported and retried. */
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
  const { store, task, onProgress, log } = dependencies
  const { least, most } = task.batch
  const missing = createWorklist()
  /** The keys of chunks that the model refused, with the ids of their documents. */
  const refused = new Map<number, string>()
  const isWanted = (key: number) => !refused.has(key)
  /** The chunks in flight; the document store may be ahead of the index with them. */
  let underWay: readonly StoredChunk[] = []
  let reason: string | undefined
  let pace = { perSecond: 0, size: least }
  let scannedAt = 0

  const makeSome = async (signal: AbortSignal) => {
    const keys = missing.take(pace.size)
    const start = performance.now()
    try {
      const { chunks } = await store.readChunks(everything(), keys)
      underWay = chunks
      const bad = await task.work(chunks, signal)
      for (const { key, documentId } of bad) refused.set(key, documentId)
    } catch (error) {
      missing.add(keys)
      throw error
    } finally {
      underWay = []
    }
    const rate = nextRate(pace.perSecond, keys.length, performance.now() - start)
    pace = { perSecond: rate.mean, size: Math.min(most, Math.max(least, rate.size)) }
    reason = undefined
    onProgress()
  }

  const progress = (): Progress => {
    const open = missing.size() + underWay.length
    return {
      state: reason !== undefined ? 'waiting' : open > 0 ? 'working' : 'done',
      missing: open,
      refused: refused.size,
      ...(open > 0 && pace.perSecond > 0 && { seconds: Math.ceil(open / pace.perSecond) }),
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
      const existing = await store.chunkKeys()
      const lacking = compareKeys(await task.doneKeys(), existing).missing
      missing.replace(before, lacking.filter(isWanted))
      if (missing.size() === 0) reason = undefined
    },
    /** Logs how much there is to do, after a first batch has shown how fast it goes. */
    async report(signal: AbortSignal) {
      const chunks = missing.size()
      if (chunks === 0) return
      await makeSome(signal)
      log.info({ chunks, seconds: progress().seconds ?? 0 }, task.messages.start)
    },
    /** Remembers the reason; returns whether it is a new one. */
    failed(error: unknown): boolean {
      const last = reason
      reason = messageOf(error)
      return reason !== last
    },
    refused: (): ReadonlyMap<number, string> => refused,
    underWay: () => underWay,
  }
}

/** How many of these chunks there are. */
export async function countExisting(
  store: Pick<DocumentStore, 'readChunks'>,
  keys: readonly number[],
): Promise<number> {
  return keys.length > 0 ? (await store.readChunks(everything(), keys)).chunks.length : 0
}

function nextRate(last: number, chunks: number, milliseconds: number) {
  const rate = (chunks * 1_000) / Math.max(1, milliseconds)
  const mean = last === 0 ? rate : last + FRESHNESS * (rate - last)
  return { mean, size: Math.round((rate * BATCH_MS) / 1_000) }
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
