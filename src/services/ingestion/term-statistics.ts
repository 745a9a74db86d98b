import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { pause } from '../../lib/abort.ts'
import { createNotifier } from '../../lib/notifier.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import { chunkPages } from '../../stores/lookup.ts'
import type { TermCounts, UncountedDocument } from '../../stores/term-counts.ts'
import type { Preparer } from './preparer.ts'
import { untilAvailable } from './retry-policy.ts'
import { bounded, bySize, countTerms, holdingIn, sumOf } from './term-counts.ts'

/** The maximum number of entries kept in memory; beyond it, entries are merged. */
const MAX_ENTRIES = 64
/** Entries read at a time, a few kilobytes each. */
const ENTRIES_PER_PAGE = 1_024
/** The delay until changes of other servers are seen if no notification arrives. */
const POLL_MS = 2_000
/** Changes that arrive within this time are read together. */
const GATHERING_MS = 250
const PROGRESS_LOG_MS = 5_000
const DOCUMENTS_PER_PAGE = 256
const CONCURRENCY = 4
/** Used while there are too few chunks: the mean of 22,000 chunks of English documentation. */
const USUAL_LENGTH = 167
const MIN_CHUNKS = 100

interface Dependencies {
  store: Pick<DocumentStore, 'terms' | 'listChunks'>
  preparer: Pick<Preparer, 'analyse'>
  /** `Analyser.fingerprint`. */
  analyser: string
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
}

export type TermStatistics = ReturnType<typeof createTermStatistics>

/**
 * The number of chunks, their total length, and how many of them contain a term, according to the document store;
 * kept in memory, and at most a few seconds behind.
 */
export function createTermStatistics(dependencies: Dependencies) {
  const { store, analyser, log } = dependencies
  const notifier = createNotifier()
  const { refresh, held } = createHeldEntries(store.terms, analyser)
  const chunks = () => sum(held(), (counts) => counts.chunks)
  const length = () => sum(held(), (counts) => counts.length)

  /** Counts the documents that were ingested without being counted. */
  const complete = async (signal: AbortSignal) => {
    let counted = 0
    const report = () => log.info({ documents: counted }, 'counting the terms of documents')
    const timer = setInterval(report, PROGRESS_LOG_MS)
    try {
      await refresh()
      for await (const documents of uncounted(store.terms, analyser)) {
        await countAll(dependencies, documents, signal)
        counted += documents.length
        await refresh()
      }
    } finally {
      clearInterval(timer)
    }
    if (counted > 0) report()
  }

  return {
    ...{ analyser, refresh, complete, chunks },
    /** The total length of all chunks, in terms. */
    length,
    /** How many chunks contain a term. */
    holding: (term: number) =>
      Math.max(
        0,
        sum(held(), (counts) => holdingIn(counts, term)),
      ),
    /** The initial value for an index that maintains the mean length of a chunk, in terms. */
    meanLength: () => (chunks() < MIN_CHUNKS ? USUAL_LENGTH : length() / chunks() || USUAL_LENGTH),
    /** Signals that documents were added, changed or deleted. */
    changed: notifier.notify,

    /** Counts what is not yet counted, then follows the document store until `signal` is aborted. */
    async run(signal: AbortSignal): Promise<void> {
      signal.addEventListener('abort', notifier.notify, { once: true })
      try {
        await untilAvailable(() => complete(signal), log, signal)
        while (!signal.aborted) {
          await notifier.wait(POLL_MS)
          await pause(GATHERING_MS, signal)
          await untilAvailable(refresh, log, signal)
        }
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'the statistics of terms are out of date')
      }
    },
  }
}

/** The entries of one analyser in memory; when there are many, they are merged into fewer. */
function createHeldEntries(terms: DocumentStore['terms'], analyser: string) {
  /** Everything read so far; `held` is its last complete state. */
  let read: ReadonlyMap<number, TermCounts> = new Map()
  let held: readonly TermCounts[] = []
  let refreshing: Promise<void> | undefined

  const fold = async (entries: Map<number, TermCounts>) => {
    const folded = smallest([...entries])
    const total = bounded(await sumOf(folded.map(([, counts]) => counts)))
    const numbers = folded.map(([number]) => number)
    const number = await terms.fold(numbers, { ...total, analyser })
    // Another server was faster.
    if (number === undefined) return
    for (const each of numbers) entries.delete(each)
    entries.set(number, total)
  }

  const readMore = async () => {
    const numbers = await terms.entries(analyser)
    const missing = numbers.filter((number) => !read.has(number))
    const there = new Set(numbers)
    const entries = new Map([...read].filter(([number]) => there.has(number)))
    const found = await terms.readEntries(missing.slice(0, ENTRIES_PER_PAGE))
    for (const entry of found) entries.set(entry.number, entry)
    const isWhole = entries.size === numbers.length
    if (entries.size > MAX_ENTRIES) await fold(entries)
    read = entries
    if (isWhole) held = [...entries.values()]
    return isWhole
  }

  const readAll = async () => {
    try {
      while (!(await readMore())) await nextTurn()
    } finally {
      refreshing = undefined
    }
  }

  return {
    held: () => held,
    /** Reads what has changed. */
    refresh: () => (refreshing ??= readAll()),
  }
}

/** Yields the uncounted documents in groups until there are none left. */
async function* uncounted(
  terms: DocumentStore['terms'],
  analyser: string,
): AsyncGenerator<UncountedDocument[]> {
  let after = 0
  for (;;) {
    const documents = await terms.uncounted(analyser, after, DOCUMENTS_PER_PAGE)
    const last = documents.at(-1)
    if (!last) return
    yield documents
    after = last.number
  }
}

async function countAll(
  { store, preparer, analyser }: Dependencies,
  documents: readonly UncountedDocument[],
  signal: AbortSignal,
): Promise<void> {
  const each = documents.values()
  const worker = async () => {
    for (const document of each) {
      signal.throwIfAborted()
      const counts = await countStored({ store, preparer }, document.id)
      if (counts) await store.terms.count(document, { ...counts, analyser })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

/** Undefined if the document is gone, or was replaced while it was read, and counted with that. */
async function countStored(
  { store, preparer }: Pick<Dependencies, 'store' | 'preparer'>,
  documentId: string,
): Promise<TermCounts | undefined> {
  const parts: TermCounts[] = []
  try {
    for await (const { chunks } of chunkPages(store, documentId)) {
      parts.push(countTerms(await preparer.analyse(chunks)))
    }
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return undefined
    throw error
  }
  return parts.length > 0 ? sumOf(parts) : undefined
}

/** The entries worth merging: never a large one just for small ones, so each term is rewritten only a few times. */
function smallest(entries: readonly [number, TermCounts][]): [number, TermCounts][] {
  const sorted = entries.toSorted(([, a], [, b]) => bySize(a, b))
  let terms = 0
  const end = sorted.findIndex(([, counts], i) => {
    const isLarge = i >= MAX_ENTRIES / 2 && counts.terms.length > terms
    terms += counts.terms.length
    return isLarge
  })
  return end < 0 ? sorted : sorted.slice(0, end)
}

function sum(all: readonly TermCounts[], of: (counts: TermCounts) => number): number {
  return all.reduce((total, each) => total + of(each), 0)
}
