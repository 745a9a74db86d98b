import { untilAborted } from '../../lib/abort.ts'
import { startThread, type Thread } from '../../lib/thread.ts'
import type { DocumentStore } from '../document-store.ts'
import { unavailable } from './error.ts'
import type { FilterMethods, FilterThreadData } from './filter-thread.ts'

const DEADLINE_MS = 30_000
const MAX_WAITING = 1_000

export interface Filtering extends Pick<DocumentStore, 'matchingKeys'> {
  close(): Promise<void>
}

/**
 * Resolves filters in a thread of their own, since one that takes most of a large corpus reads for long;
 * the thread is started by the first. `refuse` throws while none may run.
 */
export function createFiltering(data: FilterThreadData, refuse: () => void): Filtering {
  let thread: Thread<FilterMethods> | undefined
  let waiting = 0

  const start = () =>
    startThread<FilterMethods>(new URL('./filter-thread.ts', import.meta.url), {
      data,
      // The next filter starts another; those under way are rejected.
      onCrash() {
        thread = undefined
      },
    })

  return {
    async matchingKeys(filter, signal) {
      refuse()
      if (waiting >= MAX_WAITING) throw unavailable('Too many filters wait to be resolved')
      waiting++
      const deadline = AbortSignal.timeout(DEADLINE_MS)
      const limit = signal ? AbortSignal.any([signal, deadline]) : deadline
      try {
        thread ??= start()
        return await untilAborted(thread.call('matchingKeys', filter), limit)
      } catch (error) {
        if (!deadline.aborted) throw error
        throw unavailable('The document store has not resolved the filter in time', error)
      } finally {
        waiting--
      }
    },
    async close() {
      await thread?.terminate()
    },
  }
}
