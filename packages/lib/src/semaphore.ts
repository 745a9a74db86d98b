import { untilAborted } from './abort.ts'

interface Waiting {
  /** The callers in the queue, with or without an owner. */
  owner: string | undefined
  turn: number
  begin: () => void
}

/**
 * Limits how many callers do something costly at a time. `maxWaiting` bounds the queue, if nothing else does. Owners
 * take turns, and each may have half of the permits and of the queue; what has no owner counts as one without limit.
 */
export function createSemaphore(permits: number, maxWaiting = Number.POSITIVE_INFINITY) {
  const waiting: Waiting[] = []
  const working = new Map<string | undefined, number>()
  let free = permits
  /** The last turn handed out: a new owner does not go before those who waited for it. */
  let turn = 0

  const half = (all: number) => Math.ceil(all / 2)
  const isWithin = (owner: string | undefined) =>
    owner === undefined || (working.get(owner) ?? 0) < half(permits)

  function begin(owner: string | undefined): void {
    free -= 1
    working.set(owner, (working.get(owner) ?? 0) + 1)
  }

  function queue(owner: string | undefined) {
    const queued = waiting.filter((each) => each.owner === owner)
    const isFull = owner !== undefined && queued.length >= half(maxWaiting)
    if (isFull || waiting.length >= maxWaiting) throw new RangeError('too many are waiting')
    const admission = Promise.withResolvers<void>()
    const after = queued.at(-1)
    const place = {
      owner,
      turn: Math.max(turn, after ? after.turn + 1 : 0),
      begin: admission.resolve,
    }
    waiting.push(place)
    return { place, begun: admission.promise }
  }

  async function acquire(signal: AbortSignal, owner: string | undefined): Promise<void> {
    signal.throwIfAborted()
    if (free > 0 && isWithin(owner)) return begin(owner)
    const { place, begun } = queue(owner)
    try {
      await untilAborted(begun, signal)
    } catch (error) {
      // The turn may have come at the same moment: pass it on to the next.
      const position = waiting.indexOf(place)
      if (position === -1) release(owner)
      else waiting.splice(position, 1)
      throw error
    }
  }

  function release(owner: string | undefined): void {
    free += 1
    const remaining = (working.get(owner) ?? 0) - 1
    if (remaining > 0) working.set(owner, remaining)
    else working.delete(owner)
    const next = waiting
      .filter((each) => isWithin(each.owner))
      .reduce<Waiting | undefined>((a, b) => (a && a.turn <= b.turn ? a : b), undefined)
    if (!next) return
    waiting.splice(waiting.indexOf(next), 1)
    turn = next.turn
    begin(next.owner)
    next.begin()
  }

  return {
    /**
     * Runs `work` when it is its turn, in order of arrival for each owner. Throws `RangeError` if too many wait, and
     * the reason of `signal`.
     */
    async run<T>(work: () => Promise<T>, signal: AbortSignal, owner?: string): Promise<T> {
      await acquire(signal, owner)
      try {
        return await work()
      } finally {
        release(owner)
      }
    },
  }
}

/**
 * Bounds what is held in memory, such as characters or bytes. As long as less than the maximum is held, the next caller
 * gets all that it asks for.
 */
export function createBudget(max: number) {
  let total = 0
  let eased = Promise.withResolvers<void>()

  return {
    /** Waits until less than the maximum is held. Throws the reason of the signal. */
    async room(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      while (total >= max) await untilAborted(eased.promise, signal)
    },
    /** Counts `weight` as held until the returned function is called. */
    hold(weight: number) {
      total += weight
      return () => {
        total -= weight
        eased.resolve()
        eased = Promise.withResolvers()
      }
    },
  }
}
