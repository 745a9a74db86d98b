import { untilAborted, withDeadline } from '@agent-server/lib/abort.ts'
import type { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter, TooManyWaiting } from '@agent-server/lib/limiter.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { OpenedStore } from './opened-store.ts'

const DEADLINE_MS = 30_000
/** The most that may wait; each reader has a share of the places. */
const MAX_WAITING = 1_000

interface Options {
  name: string
  /** How many look-ups go on at a time. */
  capacity: number
  unavailable: (message: string, cause: unknown) => AppError
}

/** Runs look-ups, which may have to scan a large corpus; those who read take turns. Throws `store_unavailable`. */
export function createTurns({ name, capacity, unavailable }: Options) {
  const turns = createLimiter({ name, capacity, maxWaiting: MAX_WAITING })
  const refused = (error: unknown): never => {
    const isFull = error instanceof TooManyWaiting
    throw isFull ? unavailable('Too many look-ups are waiting', error) : error
  }
  const late = (cause: unknown) =>
    unavailable('The document store did not answer the look-up in time', cause)

  return async <Result>(
    { reader }: { reader?: Visibility['reader'] },
    lookUp: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> => {
    signal?.throwIfAborted()
    // The turn lasts until the answer is there, also where the caller has left.
    const answer = (limit: AbortSignal) =>
      untilAborted(turns.run(reader, lookUp, limit).catch(refused), limit)
    return withDeadline(DEADLINE_MS, answer, late, signal)
  }
}

type Lists = Pick<OpenedStore['conversations'], 'list' | 'listShared'>

/** Searches read all that was said, and what others share is looked for in all of theirs; one's own list is short. */
export const searchedIn = (searches: Lists, { list }: Pick<Lists, 'list'>): Lists => ({
  list: (owner, query) => (query.search === undefined ? list : searches.list)(owner, query),
  listShared: searches.listShared,
})

/** The reader that stands for everyone who counts stored data. */
export const COUNTING = { reader: 'counting' }
