import { untilAborted, withDeadline } from '@agent-server/lib/abort.ts'
import { createOnDemand } from '@agent-server/lib/on-demand.ts'
import { startThread, type Thread } from '@agent-server/lib/processes/thread.ts'
import type { DocumentStore } from '../document-store.ts'
import type { DocumentLookup } from '../lookup.ts'
import { unavailable } from './error.ts'
import type { LookupMethods } from './lookup-thread.ts'

const DEADLINE_MS = 30_000
const MAX_WAITING = 1_000
/** A thread idle for this long is ended: it holds about 8 MB. */
const IDLE_MS = 60_000

interface Lookups extends Pick<DocumentStore, 'matchingKeys' | 'list' | 'countListed'> {
  lookup: DocumentLookup
  close(): Promise<void>
}

/**
 * Runs queries that may have to scan a large corpus, outside this thread. `refuse` throws while no queries are allowed.
 */
export function createLookups(file: string, refuse: () => void, idleMs = IDLE_MS): Lookups {
  // Two threads, so that no search waits for a slow lookup.
  const filters = createAsker(file, refuse, idleMs)
  const lookups = createAsker(file, refuse, idleMs)
  const { ask } = lookups

  return {
    matchingKeys: (filter, signal) =>
      filters.ask(({ call }) => call('matchingKeys', filter), signal),
    list: (query, signal) => ask(({ call }) => call('list', query), signal),
    countListed: (selection, signal) => ask(({ call }) => call('countListed', selection), signal),
    lookup: {
      findDocuments: (query, signal) => ask(({ call }) => call('findDocuments', query), signal),
      countDocuments: (filter, signal) => ask(({ call }) => call('countDocuments', filter), signal),
      metadataFields: (query, signal) => ask(({ call }) => call('metadataFields', query), signal),
      metadataValues: (query, signal) => ask(({ call }) => call('metadataValues', query), signal),
      readText: (id, signal) => ask(({ call }) => call('readText', id), signal),
      readPart: (part, signal) => ask(({ call }) => call('readPart', part), signal),
    },
    async close() {
      await Promise.all([filters.close(), lookups.close()])
    },
  }
}

/** Sends queries to a thread that is started by the first one. */
function createAsker(file: string, refuse: () => void, idleMs: number) {
  /** Queries that the thread has not answered yet, including those whose callers have given up. */
  let unanswered = 0
  const start = (): Thread<LookupMethods> => {
    const thread = startThread<LookupMethods>(new URL('./lookup-thread.ts', import.meta.url), {
      data: { file },
      // The next query starts another thread; those in flight are rejected.
      onCrash: () => threads.ended(thread),
    })
    return thread
  }
  const threads = createOnDemand({ start, end: (thread) => thread.terminate(), idleMs })

  return {
    async ask<T>(
      question: (asked: Thread<LookupMethods>) => Promise<T>,
      signal?: AbortSignal,
    ): Promise<T> {
      refuse()
      signal?.throwIfAborted()
      if (unanswered >= MAX_WAITING) throw unavailable('Too many look-ups are waiting')
      return threads.use((thread) => {
        const answer = question(thread)
        unanswered++
        const answered = () => void unanswered--
        answer.then(answered, answered)
        const late = (cause: unknown) =>
          unavailable('The document store did not answer the look-up in time', cause)
        return withDeadline(DEADLINE_MS, (limit) => untilAborted(answer, limit), late, signal)
      })
    },
    close: threads.stop,
  }
}
