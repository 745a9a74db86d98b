import { untilAborted } from './abort.ts'
import type { Owner } from './limiter.ts'

/** Lets concurrent callers with the same key share one piece of work. If one gives up, it goes on for the others. */
export function createSharedWork<T>() {
  const underWay = new Map<string, Promise<T>>()

  return (key: string, begin: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const work = underWay.get(key) ?? begin()
    if (!underWay.has(key)) {
      underWay.set(key, work)
      const end = () => underWay.delete(key)
      work.then(end, end)
    }
    return untilAborted(work, signal)
  }
}

/** One input of a batch. The `work` function settles each of them. */
export interface Queued<Input, Output> {
  input: Input
  /** Aborted once no caller waits for the output. */
  signal: AbortSignal | undefined
  resolve(output: Output): void
  reject(error: unknown): void
}

interface CoalescingQueueOptions<Input, Output> {
  /**
   * Processes one batch, and may return what of it is to be in the next one. If it throws, inputs of the batch that it
   * has not settled are rejected.
   */
  work: (
    batch: readonly Queued<Input, Output>[],
  ) => Promise<readonly Queued<Input, Output>[] | undefined> | Promise<void>
  /** How many batches are in flight at a time; one by default. */
  concurrency?: number
  weightOf: (input: Input) => number
  /** The maximum weight of a batch; only a single heavier input may exceed it. */
  maxWeight: number
  maxCount?: number
  /** The maximum weight of what passes heavier inputs, but for one of them a batch; nothing passes any by default. */
  maxShort?: number
  /** Owners take turns; by default, all inputs are of one. */
  ownerOf?: (input: Input) => Owner
  /** What the first input of a batch waits for, so that others can join it; by default only the current microtask. */
  gather?: () => Promise<unknown>
}

interface Waiting<Input, Output> extends Queued<Input, Output> {
  owner: Owner
  turn: number
}

/** Inputs that wait, or are in flight. Those of one owner go in order of arrival. */
function createLane<Input, Output>() {
  const waiting: Waiting<Input, Output>[] = []
  const inFlight = new Set<Waiting<Input, Output>>()
  /** After the last one that was processed: a new owner, or one who comes back, does not go before those who wait. */
  let turn = 0
  return {
    waiting,
    add(entry: Omit<Waiting<Input, Output>, 'turn'>) {
      const isOwn = ({ owner }: { owner: Owner }) => owner === entry.owner
      const last = waiting.findLast(isOwn) ?? [...inFlight].findLast(isOwn)
      const own = Math.max(turn, last ? last.turn + 1 : 0)
      const place = waiting.findLastIndex((each) => each.turn <= own) + 1
      waiting.splice(place, 0, { ...entry, turn: own })
    },
    take() {
      const next = waiting.shift()
      if (next) inFlight.add(next)
      return next
    },
    /** Ends a batch, of which `left` waits again. Returns whether any other was of this lane. */
    end(batch: readonly Waiting<Input, Output>[], left: ReadonlySet<unknown>) {
      const own = batch.filter((each) => inFlight.delete(each))
      const again = own.filter((each) => left.has(each))
      for (const each of own) if (!left.has(each)) turn = Math.max(turn, each.turn + 1)
      waiting.unshift(...again)
      waiting.sort((one, other) => one.turn - other.turn)
      return again.length < own.length
    },
  }
}

/**
 * A queue that processes inputs in batches: those that arrive while a batch is in flight share the next one, in order,
 * except that short ones pass long ones, and owners take turns.
 */
export function createCoalescingQueue<Input, Output>(
  options: CoalescingQueueOptions<Input, Output>,
) {
  const { work, weightOf, maxWeight, maxCount = Number.POSITIVE_INFINITY } = options
  const { concurrency = 1, gather = () => Promise.resolve() } = options
  const { maxShort = Number.POSITIVE_INFINITY, ownerOf = () => undefined } = options
  const shorts = createLane<Input, Output>()
  const longs = createLane<Input, Output>()
  const waiting = () => shorts.waiting.length + longs.waiting.length
  /** Whether a long one has made way for the last batch, which may have left its own. */
  let isOwed = false
  const workers = new Set<Promise<void>>()

  const takeBatch = () => {
    const batch: Waiting<Input, Output>[] = []
    let weight = 0
    const fill = ({ waiting, take }: typeof shorts, most = maxCount) => {
      for (let next = waiting[0]; next && batch.length < most; next = waiting[0]) {
        const own = weightOf(next.input)
        if (batch.length > 0 && weight + own > maxWeight) return
        weight += own
        take()
        batch.push(next)
      }
    }
    if (isOwed) fill(longs, 1)
    fill(shorts)
    fill(longs)
    return batch
  }

  const workOn = async (batch: readonly Queued<Input, Output>[]) => {
    try {
      return (await work(batch)) ?? []
    } catch (error) {
      for (const { reject } of batch) reject(error)
      return []
    }
  }

  const workThrough = async (end: () => void) => {
    await gather()
    while (waiting() > 0) {
      const batch = takeBatch()
      const left = new Set(await workOn(batch))
      shorts.end(batch, left)
      isOwed = !longs.end(batch, left) && longs.waiting.length > 0
    }
    end()
  }

  const startWorker = () => {
    if (workers.size >= concurrency) return
    const worker: Promise<void> = workThrough(() => workers.delete(worker))
    workers.add(worker)
  }

  return {
    /** Queues an input and waits for its output. Rejects with the reason of `signal` if it aborts. */
    async submit(input: Input, signal?: AbortSignal): Promise<Output> {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<Output>()
      const lane = weightOf(input) > maxShort ? longs : shorts
      lane.add({ input, signal, resolve, reject, owner: ownerOf(input) })
      startWorker()
      if (!signal) return promise
      try {
        return await untilAborted(promise, signal)
      } finally {
        const place = lane.waiting.findIndex((each) => each.resolve === resolve)
        if (place >= 0) lane.waiting.splice(place, 1)
      }
    },
    waiting,
    /** Resolves once nothing is queued or in flight. */
    async idle() {
      await Promise.all(workers)
    },
    rejectWaiting(error: Error) {
      for (const { waiting } of [shorts, longs]) {
        for (const { reject } of waiting.splice(0)) reject(error)
      }
    },
  }
}
