import { untilAborted } from '../../lib/abort.ts'
import { startThread, type Thread } from '../../lib/thread.ts'
import type { DocumentLookup } from '../lookup.ts'
import { unavailable } from './error.ts'
import type { LookupMethods, LookupThreadData } from './lookup-thread.ts'

const DEADLINE_MS = 30_000
const MAX_WAITING = 1_000

export interface Lookup extends DocumentLookup {
  close(): Promise<void>
}

/**
 * Answers in a thread of its own, which the first question starts: one about the whole of a large corpus
 * reads for long. `refuse` throws while none may run.
 */
export function createLookup(data: LookupThreadData, refuse: () => void): Lookup {
  let thread: Thread<LookupMethods> | undefined
  let waiting = 0

  const start = () =>
    startThread<LookupMethods>(new URL('./lookup-thread.ts', import.meta.url), {
      data,
      // The next question starts another; those under way are rejected.
      onCrash() {
        thread = undefined
      },
    })

  async function ask<T>(
    question: (asked: Thread<LookupMethods>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    refuse()
    if (waiting >= MAX_WAITING) throw unavailable('Too many look-ups wait to be answered')
    waiting++
    const deadline = AbortSignal.timeout(DEADLINE_MS)
    try {
      thread ??= start()
      return await untilAborted(question(thread), AbortSignal.any([signal, deadline]))
    } catch (error) {
      signal.throwIfAborted()
      if (!deadline.aborted) throw error
      throw unavailable('The document store has not answered the look-up in time', error)
    } finally {
      waiting--
    }
  }

  return {
    findDocuments: (query, signal) => ask((asked) => asked.call('findDocuments', query), signal),
    countDocuments: (filter, signal) =>
      ask((asked) => asked.call('countDocuments', filter), signal),
    metadataFields: (limit, signal) => ask((asked) => asked.call('metadataFields', limit), signal),
    metadataValues: (query, signal) => ask((asked) => asked.call('metadataValues', query), signal),
    readText: (id, signal) => ask((asked) => asked.call('readText', id), signal),
    async close() {
      await thread?.terminate()
    },
  }
}
