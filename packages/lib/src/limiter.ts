import { untilAborted } from './abort.ts'

/**
 * Whose share something counts towards: the id of an API key, or the address of a stranger. Undefined is the operator:
 * the master key, the web UI, and the server's own work.
 */
export type Owner = string | undefined

interface LimiterOptions {
  /** What is limited, in a word or two. */
  name: string
  /** How much there is in all: callers at a time, or bytes. */
  capacity: number
  /** How much of it is for the operator alone. */
  reserve?: number
  /** The most that one owner may have of it, even where nobody else wants any. */
  most?: number
  /** How many may wait for it, if nothing else bounds them. */
  maxWaiting?: number
}

interface Waiting {
  owner: Owner
  turn: number
  begin: () => void
}

/** The queue has no place left for the owner. */
export class TooManyWaiting extends RangeError {
  override readonly name = 'TooManyWaiting'
}

export type Limiter = ReturnType<typeof createLimiter>

/** The newest limiter of each name, for the test that starves every one of them. */
const limiters = new Map<string, Limiter>()
export const limitersByName: ReadonlyMap<string, Limiter> = limiters

/**
 * Limits something that all callers share. An owner may have no more of it than is still free for others: one alone
 * half, two a third each, and so on, so that the next one always finds some. The operator is bounded by the whole alone.
 * The places in the queue are shared out in the same way.
 */
export function createLimiter({
  name,
  capacity,
  reserve = reserveOf(capacity),
  most = capacity,
  maxWaiting = Number.POSITIVE_INFINITY,
}: LimiterOptions) {
  const waiting: Waiting[] = []
  const held = new Map<Owner, number>()
  let total = 0
  /** After the last one handed out: a new owner, or one who comes back, does not go before those who wait. */
  let turn = 0

  const fits = (owner: Owner, weight: number) => {
    if (owner === undefined) return total + weight <= capacity
    return (held.get(owner) ?? 0) + weight <= Math.min(most, capacity - reserve - total)
  }

  function hold(owner: Owner, weight: number): void {
    total += weight
    held.set(owner, (held.get(owner) ?? 0) + weight)
  }

  function letGo(owner: Owner, weight: number): void {
    total -= weight
    const remaining = (held.get(owner) ?? 0) - weight
    if (remaining > 0) held.set(owner, remaining)
    else held.delete(owner)
    admitNext()
  }

  function admitNext(): void {
    for (;;) {
      const next = waiting
        .filter((each) => fits(each.owner, 1))
        .reduce<Waiting | undefined>((a, b) => (a && a.turn <= b.turn ? a : b), undefined)
      if (!next) return
      waiting.splice(waiting.indexOf(next), 1)
      turn = Math.max(turn, next.turn + 1)
      hold(next.owner, 1)
      next.begin()
    }
  }

  function queue(owner: Owner) {
    const queued = waiting.filter((each) => each.owner === owner)
    const free = maxWaiting - waiting.length
    const isFull = owner === undefined ? free < 1 : queued.length >= free - reserveOf(maxWaiting)
    if (isFull) throw new TooManyWaiting('too many are waiting')
    const admission = Promise.withResolvers<void>()
    const last = queued.at(-1)
    const place = {
      owner,
      turn: Math.max(turn, last ? last.turn + 1 : 0),
      begin: admission.resolve,
    }
    waiting.push(place)
    return { place, admitted: admission.promise }
  }

  async function acquire(owner: Owner, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (fits(owner, 1)) return hold(owner, 1)
    const { place, admitted } = queue(owner)
    try {
      await untilAborted(admitted, signal)
    } catch (error) {
      // The turn may have come at the same moment: pass it on to the next.
      const position = waiting.indexOf(place)
      if (position === -1) letGo(owner, 1)
      else waiting.splice(position, 1)
      throw error
    }
  }

  const limiter = {
    name,
    capacity,
    /** Takes so much if the owner may have it, until the returned function is called once; undefined otherwise. */
    take(owner: Owner, weight = 1): (() => void) | undefined {
      if (!fits(owner, weight)) return undefined
      hold(owner, weight)
      return () => letGo(owner, weight)
    },
    /** Takes one when it is its turn, until the returned function is called once. Throws like `run`. */
    async enter(owner: Owner, signal: AbortSignal): Promise<() => void> {
      await acquire(owner, signal)
      return () => letGo(owner, 1)
    },
    /**
     * Runs `work` when it is its turn. Owners take turns; those of one go in order of arrival. Throws `TooManyWaiting`
     * if too many wait, and the reason of `signal`.
     */
    async run<T>(owner: Owner, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      await acquire(owner, signal)
      try {
        return await work()
      } finally {
        letGo(owner, 1)
      }
    },
  }
  limiters.set(name, limiter)
  return limiter
}

/** Smaller capacities have no reserve: it would be too large a part. */
const MIN_SHARED = 4
const RESERVED_PART = 16

/** The default share that is reserved for the operator. */
export function reserveOf(capacity: number): number {
  return capacity < MIN_SHARED || !Number.isFinite(capacity)
    ? 0
    : Math.ceil(capacity / RESERVED_PART)
}
