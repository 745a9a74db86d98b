import { pause } from '@agent-server/lib/abort.ts'
import { compareKeys } from '@agent-server/lib/compare-keys.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createNotifier } from '@agent-server/lib/notifier.ts'
import { messageOf } from '@agent-server/lib/system-error.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore, StoredChunk } from '@agent-server/stores'

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

export interface BacklogOptions {
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
export class Backlog {
  readonly #task: Task
  readonly #exclusively: BacklogOptions['exclusively']
  readonly #log: BacklogOptions['log']
  readonly #work: BacklogWork
  readonly #notifier = createNotifier()
  /** Whether this server does the work, and not another one on the same store. */
  #isMaker = false
  #changes = 1
  #scannedChanges = 0

  constructor(options: BacklogOptions) {
    this.#task = options.task
    this.#exclusively = options.exclusively
    this.#log = options.log
    this.#work = new BacklogWork(options)
  }

  /** Called when new chunks become findable. */
  published(keys: readonly number[]): void {
    // Chunks published before are found by the first scan.
    if (!this.#isMaker) return
    this.#work.add(keys)
    this.#notifier.notify()
  }

  /** Called when another server may have published chunks. */
  changed(): void {
    this.#changes++
    this.#notifier.notify()
  }

  progress(): Progress {
    const progress = this.#work.progress()
    return this.#isStale && progress.state === 'done' ? { ...progress, state: 'working' } : progress
  }

  /** The chunks that were refused, with the ids of their documents. */
  refused(): ReadonlyMap<number, string> {
    return this.#work.refused
  }

  /** The chunks in flight; the document store may be ahead of the index with them. */
  inFlight(): readonly StoredChunk[] {
    return this.#work.inFlight
  }

  /** Works until `signal` is aborted. Never throws: failures are reported and retried. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', this.#notifier.notify, { once: true })
    while (!signal.aborted) {
      await this.#makeOrWait(signal).catch((error: unknown) => this.#recover(error, signal))
    }
  }

  /** Whether there may be chunks, perhaps of another server, that no scan has seen. */
  get #isStale(): boolean {
    return this.#scannedChanges < this.#changes
  }

  get #rescanMs(): number {
    return this.#task.rescanMs ?? DEFAULT_RESCAN_MS
  }

  async #makeOrWait(signal: AbortSignal): Promise<void> {
    if (await this.#exclusively((exclusive) => this.#makeAll(exclusive), signal)) return
    await this.#scan()
    await this.#notifier.wait(RESCAN_MS)
    if (this.#isStale) await pause(this.#rescanMs, signal)
  }

  async #makeAll(signal: AbortSignal): Promise<void> {
    const { notify } = this.#notifier
    this.#isMaker = true
    signal.addEventListener('abort', notify)
    try {
      await this.#scan()
      await this.#work.report(signal)
      while (!signal.aborted) await this.#nextTurn(signal)
    } finally {
      this.#isMaker = false
      signal.removeEventListener('abort', notify)
    }
  }

  async #nextTurn(signal: AbortSignal): Promise<void> {
    const work = this.#work
    if (work.progress().missing > 0) await work.makeSome(signal)
    if (this.#isStale && work.scanAge() > this.#rescanMs) await this.#scan()
    else if (work.progress().missing === 0) {
      await this.#notifier.wait(this.#isStale ? this.#rescanMs : RESCAN_MS)
    }
  }

  async #scan(): Promise<void> {
    const changes = this.#changes
    await this.#work.scan()
    this.#scannedChanges = changes
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    if (this.#work.failed(error)) this.#log.warn({ err: error }, this.#task.messages.failed)
    const pauseMs = Math.max(RETRY_MS, this.#task.pauseMs())
    await ignore(pause(pauseMs, signal), 'only the signal ends it')
  }
}

/** The remaining work, and how to do one batch of it. */
class BacklogWork {
  readonly #parts: Pick<BacklogOptions, 'store' | 'task' | 'onProgress' | 'log'>
  readonly #missing = createWorklist()
  readonly #refused = new Map<number, string>()
  #inFlight: readonly StoredChunk[] = []
  /** Why the last batch failed; undefined if it did not. */
  #reason: string | undefined
  #pace: { perSecond: number; size: number }
  #scannedAt = 0

  constructor(options: BacklogOptions) {
    this.#parts = options
    this.#pace = { perSecond: 0, size: options.task.batch.least }
  }

  get refused(): ReadonlyMap<number, string> {
    return this.#refused
  }

  get inFlight(): readonly StoredChunk[] {
    return this.#inFlight
  }

  add(keys: readonly number[]): void {
    this.#missing.add(keys)
  }

  scanAge(): number {
    return performance.now() - this.#scannedAt
  }

  async scan(): Promise<void> {
    const { store, task } = this.#parts
    this.#scannedAt = performance.now()
    const before = this.#missing.size()
    const existing = await store.chunkKeys()
    const lacking = compareKeys(await task.doneKeys(), existing).missing
    this.#missing.replace(
      before,
      lacking.filter((key) => !this.#refused.has(key)),
    )
    if (this.#missing.size() === 0) this.#reason = undefined
  }

  async makeSome(signal: AbortSignal): Promise<void> {
    const { store, task, onProgress } = this.#parts
    const keys = this.#missing.take(this.#pace.size)
    const start = performance.now()
    try {
      const { chunks } = await store.readChunks(everything(), keys)
      this.#inFlight = chunks
      const refused = await task.work(chunks, signal)
      for (const { key, documentId } of refused) this.#refused.set(key, documentId)
    } catch (error) {
      this.#missing.add(keys)
      throw error
    } finally {
      this.#inFlight = []
    }
    const { least, most } = task.batch
    const rate = nextRate(this.#pace.perSecond, keys.length, performance.now() - start)
    this.#pace = { perSecond: rate.mean, size: Math.min(most, Math.max(least, rate.size)) }
    this.#reason = undefined
    onProgress()
  }

  /** Logs how much there is to do, after a first batch has shown how fast it goes. */
  async report(signal: AbortSignal): Promise<void> {
    const { task, log } = this.#parts
    const chunks = this.#missing.size()
    if (chunks === 0) return
    await this.makeSome(signal)
    log.info({ chunks, seconds: this.progress().seconds ?? 0 }, task.messages.start)
  }

  /** Remembers the reason; returns whether it is a new one. */
  failed(error: unknown): boolean {
    const last = this.#reason
    this.#reason = messageOf(error)
    return this.#reason !== last
  }

  progress(): Progress {
    const reason = this.#reason
    const { perSecond } = this.#pace
    const open = this.#missing.size() + this.#inFlight.length
    return {
      state: reason !== undefined ? 'waiting' : open > 0 ? 'working' : 'done',
      missing: open,
      refused: this.#refused.size,
      ...(open > 0 && perSecond > 0 && { seconds: Math.ceil(open / perSecond) }),
      ...(reason !== undefined && { reason }),
    }
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
