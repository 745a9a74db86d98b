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

interface Lookups extends Pick<DocumentStore, 'visibleKeys' | 'list' | 'countListed'> {
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
    visibleKeys: (visibility, signal) =>
      filters.ask(({ call }) => call('visibleKeys', visibility), signal),
    list: (of, query, signal) => ask(({ call }) => call('list', [of, query]), signal),
    countListed: (of, selection, signal) =>
      ask(({ call }) => call('countListed', [of, selection]), signal),
    lookup: {
      findDocuments: (of, query, signal) =>
        ask(({ call }) => call('findDocuments', [of, query]), signal),
      countDocuments: (of, filter, signal) =>
        ask(({ call }) => call('countDocuments', [of, filter]), signal),
      collections: (of, limit, signal) =>
        ask(({ call }) => call('collections', [of, limit]), signal),
      goneConversations: (of, limit, signal) =>
        ask(({ call }) => call('goneConversations', [of, limit]), signal),
      metadataFields: (of, query, signal) =>
        ask(({ call }) => call('metadataFields', [of, query]), signal),
      metadataValues: (of, query, signal) =>
        ask(({ call }) => call('metadataValues', [of, query]), signal),
      readText: (of, id, signal) => ask(({ call }) => call('readText', [of, id]), signal),
      readPart: (of, part, signal) => ask(({ call }) => call('readPart', [of, part]), signal),
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
      question: (lookups: Thread<LookupMethods>) => Promise<T>,
      signal?: AbortSignal,
    ): Promise<T> {
      refuse()
      signal?.throwIfAborted()
      if (unanswered >= MAX_WAITING) throw unavailable('Too many look-ups are waiting')
      return threads.use((thread) => {
        const answer = question(thread)
        unanswered++
        const settle = () => void unanswered--
        answer.then(settle, settle)
        const late = (cause: unknown) =>
          unavailable('The document store did not answer the look-up in time', cause)
        return withDeadline(DEADLINE_MS, (limit) => untilAborted(answer, limit), late, signal)
      })
    },
    close: threads.stop,
  }
}
