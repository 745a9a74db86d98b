import { untilAborted } from './abort.ts'

/** Lets callers who ask for the same work at the same time share it. One who gives up does not end it for the others. */
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

/** One input of a batch. The worker settles each of them. */
export interface Queued<Input, Output> {
  input: Input
  /** Aborted when nobody waits for it any more. */
  signal: AbortSignal | undefined
  resolve(output: Output): void
  reject(error: unknown): void
}

interface CoalescingQueueOptions<Input, Output> {
  /** Works on one batch. What it throws rejects those of the batch that it has not settled. */
  work: (batch: readonly Queued<Input, Output>[]) => Promise<void>
  /** How many batches are worked on at a time: one, unless it says otherwise. */
  concurrency?: number
  weightOf: (input: Input) => number
  /** The most that a batch weighs, unless its first input alone weighs more. */
  maxWeight: number
  /** The most inputs of a batch. */
  maxCount?: number
  /** What the first input of a batch waits for, so that others can join it: by default only the end of the current microtask. */
  gather?: () => Promise<unknown>
}

/** A queue whose inputs are worked on in batches: those that come while a batch is under way share the next one, in order. */
export function createCoalescingQueue<Input, Output>(
  options: CoalescingQueueOptions<Input, Output>,
) {
  const { work, weightOf, maxWeight, maxCount = Number.POSITIVE_INFINITY } = options
  const { concurrency = 1, gather = () => Promise.resolve() } = options
  const waiting: Queued<Input, Output>[] = []
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

  const startWorker = () => {
    if (workers.size >= concurrency) return
    const worker: Promise<void> = workThrough(() => workers.delete(worker))
    workers.add(worker)
  }

  return {
    /** Waits for its turn, unless `signal` is aborted, with the reason of which it then rejects. */
    async submit(input: Input, signal?: AbortSignal): Promise<Output> {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<Output>()
      const queued = { input, signal, resolve, reject }
      waiting.push(queued)
      startWorker()
      if (!signal) return promise
      try {
        return await untilAborted(promise, signal)
      } finally {
        const place = waiting.indexOf(queued)
        if (place >= 0) waiting.splice(place, 1)
      }
    },
    /** How many wait for their turn. */
    waiting: () => waiting.length,
    /** Resolves once nothing waits and nothing is worked on. */
    async idle() {
      await Promise.all(workers)
    },
    rejectWaiting(error: Error) {
      for (const { reject } of waiting.splice(0)) reject(error)
    },
  }
}
