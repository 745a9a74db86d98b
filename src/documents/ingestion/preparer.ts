import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { createCoalescingQueue, type Queued } from '@agent-server/lib/coalesce.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createOnDemand } from '@agent-server/lib/on-demand.ts'
import { startThread, type Thread } from '@agent-server/lib/processes/thread.ts'
import type { AnalyserLanguage, ChunkText, TermBatch } from '@agent-server/search'
import type { Prepared, PrepareMethods, PrepareThreadData, SegmentText } from './prepare-thread.ts'
import { PreparationError } from './retry-policy.ts'

const HEAP_MEGABYTES = 1_024

export interface PreparerOptions {
  language: AnalyserLanguage
  /** The time limit for splitting and analysing one segment. */
  deadlineMs: number
  /** The heap limit of the thread. */
  heapMegabytes?: number
  /** A thread that has been idle this long is ended. */
  idleMs?: number
  log?: Pick<Log, 'warn'>
}

export type Preparer = ReturnType<typeof createPreparer>

/**
 * The CPU-intensive half of ingestion, in one worker thread. A document that takes too long or crashes the thread
 * fails alone, with a `PreparationError`; the others in its batch are retried, each by itself. Throws AppError
 * `queue_full` if too many calls wait for the thread.
 */
export function createPreparer(options: PreparerOptions) {
  const thread = superviseThread(options)
  const { prepare, analyse, close } = createPrepareQueue({
    prepare: (segments) => thread.run((open) => open.call('prepare', segments)),
    analyse: (chunks) => thread.run((open) => open.call('analyse', chunks)),
  })

  return {
    prepare,
    /** Analyses existing chunks, to rebuild an index. */
    analyse,
    /** Rejects all waiting calls and the one in flight. */
    async close() {
      close()
      await thread.terminate()
    },
  }
}

/** The most calls that may wait for the thread. */
const MAX_WAITING = 1_024
/** Small documents go to the thread in batches of up to this many documents and characters. */
const BATCH_DOCUMENTS = 64
const BATCH_CHARACTERS = 131_072

/** What the thread does. It gets one call at a time, so that each call has its own deadline. */
interface PrepareThread {
  prepare(segments: readonly SegmentText[]): Promise<readonly Prepared[]>
  analyse(chunks: readonly ChunkText[]): Promise<TermBatch>
}

/**
 * The queue of calls for the thread. Calls reject with what the thread throws, with AppError `queue_full` if too many
 * wait, with `shutting_down` once closed, and with the reason of the signal.
 */
export function createPrepareQueue(thread: PrepareThread) {
  const closed = new AbortController()
  const turns = createLimiter({ name: 'splitting', capacity: 1, maxWaiting: MAX_WAITING })
  const inTurn = <Output>(call: () => Promise<Output>) => turns.run(undefined, call, closed.signal)

  const prepareTogether = async (batch: readonly Queued<SegmentText, Prepared>[]) => {
    const outputs = await inTurn(() => thread.prepare(batch.map(({ input }) => input)))
    for (const [index, prepared] of outputs.entries()) batch[index]?.resolve(prepared)
  }

  const queue = createCoalescingQueue<SegmentText, Prepared>({
    async work(batch) {
      try {
        await prepareTogether(batch)
      } catch (error) {
        if (batch.length === 1 || error instanceof AppError) throw error
        // Retry each one by itself, to find out which one failed.
        for (const one of batch) await prepareTogether([one]).catch(one.reject)
      }
    },
    weightOf: ({ text }) => text.length,
    maxWeight: BATCH_CHARACTERS,
    maxCount: BATCH_DOCUMENTS,
  })

  return {
    async prepare(segment: SegmentText, signal?: AbortSignal): Promise<Prepared> {
      closed.signal.throwIfAborted()
      if (queue.waiting() >= MAX_WAITING) {
        throw new AppError('queue_full', 'Too many documents wait to be split')
      }
      return queue.submit(segment, signal)
    },
    analyse: (chunks: readonly ChunkText[]) => inTurn(() => thread.analyse(chunks)),
    /** Rejects waiting calls. The call in flight ends with the thread. */
    close() {
      const error = new AppError('shutting_down', 'The server is shutting down')
      closed.abort(error)
      queue.rejectWaiting(error)
    },
  }
}

const START_DEADLINE_MS = 30_000
/** An idle thread holds about 12 MB; starting a new one delays the next document by about 50 ms. */
const IDLE_MS = 60_000

/** A thread that is started on demand and replaced if a call takes too long or crashes it. */
function superviseThread(options: PreparerOptions) {
  const { language, deadlineMs, heapMegabytes = HEAP_MEGABYTES, idleMs = IDLE_MS, log } = options
  const data: PrepareThreadData = { language }
  let crash: Error | undefined
  const start = (): Thread<PrepareMethods> => {
    const thread = startThread<PrepareMethods>(new URL('./prepare-thread.ts', import.meta.url), {
      data,
      heapMegabytes,
      onCrash(error) {
        crash = error
        threads.ended(thread)
      },
    })
    return thread
  }
  const threads = createOnDemand({ start, end: (thread) => thread.terminate(), idleMs })

  /** Before each call, so that a slow start does not count as the document's time. */
  const untilReady = async (thread: Thread<PrepareMethods>) => {
    try {
      using deadline = startDeadline(START_DEADLINE_MS)
      await untilAborted(thread.call('ready', undefined), deadline.signal)
    } catch (cause) {
      await threads.stop()
      throw new AppError('internal', 'The thread that splits documents did not start', { cause })
    }
  }

  return {
    /**
     * Throws `PreparationError` if the call exceeds the deadline or crashes the thread, and AppError `internal` if the
     * thread cannot be started.
     */
    run: <Output>(call: (thread: Thread<PrepareMethods>) => Promise<Output>): Promise<Output> =>
      threads.use(async (thread) => {
        await untilReady(thread)
        using deadline = startDeadline(deadlineMs)
        try {
          return await untilAborted(call(thread), deadline.signal)
        } catch (error) {
          const isLate = error === deadline.signal.reason
          if (!isLate && error !== crash) throw error
          const code = isLate ? 'preparation_timeout' : 'preparation_crashed'
          const failure = new PreparationError(code, error)
          log?.warn({ err: failure }, 'replacing the thread that splits documents')
          await threads.stop()
          throw failure
        }
      }),
    terminate: threads.stop,
  }
}
