import { untilAborted } from './abort.ts'

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
  /** Processes one batch. If it throws, inputs of the batch that it has not settled are rejected. */
  work: (batch: readonly Queued<Input, Output>[]) => Promise<void>
  /** How many batches are in flight at a time; one by default. */
  concurrency?: number
  weightOf: (input: Input) => number
  /** The maximum weight of a batch; only a single heavier input may exceed it. */
  maxWeight: number
  maxCount?: number
  /** The maximum weight of what passes heavier inputs, all but the first of them; nothing passes any by default. */
  maxShort?: number
  /** What the first input of a batch waits for, so that others can join it; by default only the current microtask. */
  gather?: () => Promise<unknown>
}

/**
 * A queue that processes inputs in batches: those that arrive while a batch is in flight share the next one, in order,
 * except that short ones pass long ones.
 */
export function createCoalescingQueue<Input, Output>(
  options: CoalescingQueueOptions<Input, Output>,
) {
  const { work, weightOf, maxWeight, maxCount = Number.POSITIVE_INFINITY } = options
  const { concurrency = 1, gather = () => Promise.resolve() } = options
  const { maxShort = Number.POSITIVE_INFINITY } = options
  const waiting: (Queued<Input, Output> & { isLong: boolean })[] = []
  const workers = new Set<Promise<void>>()

  const takeBatch = () => {
    let weight = 0
    let count = 0
    for (const { input } of waiting) {
      weight += weightOf(input)
      if (count > 0 && (weight > maxWeight || count >= maxCount)) break
      count++
    }
    return waiting.splice(0, count)
  }

  const workThrough = async (end: () => void) => {
    await gather()
    while (waiting.length > 0) {
      const batch = takeBatch()
      try {
        await work(batch)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    end()
  }

  /** Behind the first long one, which the next batch takes, and before all others. */
  const placeOfShort = () => {
    let longs = 0
    const place = waiting.findIndex(({ isLong }) => isLong && ++longs > 1)
    return place === -1 ? waiting.length : place
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
      const queued = { input, signal, resolve, reject, isLong: weightOf(input) > maxShort }
      waiting.splice(queued.isLong ? waiting.length : placeOfShort(), 0, queued)
      startWorker()
      if (!signal) return promise
      try {
        return await untilAborted(promise, signal)
      } finally {
        const place = waiting.indexOf(queued)
        if (place >= 0) waiting.splice(place, 1)
      }
    },
    waiting: () => waiting.length,
    /** Resolves once nothing is queued or in flight. */
    async idle() {
      await Promise.all(workers)
    },
    rejectWaiting(error: Error) {
      for (const { reject } of waiting.splice(0)) reject(error)
    },
  }
}
