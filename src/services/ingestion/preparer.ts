import { AppError } from '../../errors.ts'
import type { ChunkText } from '../../indexes/analyser/analyser.ts'
import type { AnalyserLanguage } from '../../indexes/analyser/languages.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { startDeadline, untilAborted } from '../../lib/abort.ts'
import { createCoalescingQueue, type Queued } from '../../lib/coalesce.ts'
import { startThread, type Thread } from '../../lib/processes/thread.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { Prepared, PrepareMethods, PrepareThreadData, SegmentText } from './prepare-thread.ts'
import { PreparationError } from './retry-policy.ts'

const HEAP_MEGABYTES = 1_024

export interface PreparerOptions {
  language: AnalyserLanguage
  /** How long splitting and analysing one segment may take. */
  deadlineMs: number
  /** The most memory one segment may make the thread take. */
  heapMegabytes?: number
  /** A thread without work is ended after so long. */
  idleMs?: number
  log?: { warn(fields: object, message: string): void }
}

export type Preparer = ReturnType<typeof createPreparer>

/**
 * The processor-hungry half of ingestion, in one worker thread. A document that takes too long or crashes the
 * thread fails alone, with a `PreparationError`; those sent together with it are tried again, each by itself.
 * Throws AppError `queue_full` when too many calls wait for the thread.
 */
export function createPreparer(options: PreparerOptions) {
  const thread = superviseThread(options)
  const { prepare, analyse, close } = createPrepareQueue({
    prepare: (segments) => thread.run((open) => open.call('prepare', segments)),
    analyse: (chunks) => thread.run((open) => open.call('analyse', chunks)),
  })

  return {
    prepare,
    /** Analyses chunks that exist already, to rebuild an index. */
    analyse,
    /** Rejects what waits and what is under way. */
    async close() {
      close()
      await thread.terminate()
    },
  }
}

/** The most calls that may wait for the thread. */
const MAX_WAITING = 1_024
/** Small documents go to the thread together, up to this many and this much text. */
const BATCH_DOCUMENTS = 64
const BATCH_CHARACTERS = 131_072

/** What the thread does; it is given one call at a time, so that a deadline is one call's own. */
interface PrepareThread {
  prepare(segments: readonly SegmentText[]): Promise<readonly Prepared[]>
  analyse(chunks: readonly ChunkText[]): Promise<TermBatch>
}

/**
 * Calls that wait for the thread. They reject with what the thread throws, with `queue_full` when too many
 * wait, with `shutting_down` once closed, with the reason of the signal.
 */
export function createPrepareQueue(thread: PrepareThread) {
  const closed = new AbortController()
  const turns = createSemaphore(1, MAX_WAITING)
  const inTurn = <Output>(call: () => Promise<Output>) => turns.run(call, closed.signal)

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
        // Each by itself, so that it is known who is at fault.
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
    /** Rejects what waits. What is under way ends with the thread. */
    close() {
      const error = new AppError('shutting_down', 'The server is shutting down')
      closed.abort(error)
      queue.rejectWaiting(error)
    },
  }
}

const START_DEADLINE_MS = 30_000
/** It holds about 12 MB; the next document then waits a twentieth of a second for a new one. */
const IDLE_MS = 60_000

/** A thread that is started when it is needed and replaced when a call takes too long or ends it. */
function superviseThread(options: PreparerOptions) {
  const { language, deadlineMs, heapMegabytes = HEAP_MEGABYTES, idleMs = IDLE_MS, log } = options
  const data: PrepareThreadData = { language }
  const crashes = new WeakSet()
  let current: Thread<PrepareMethods> | undefined
  let idleTimer: NodeJS.Timeout | undefined

  const drop = async () => {
    const dropped = current
    current = undefined
    await dropped?.terminate()
  }

  const start = async () => {
    const thread = startThread<PrepareMethods>(new URL('./prepare-thread.ts', import.meta.url), {
      data,
      heapMegabytes,
      onCrash(error) {
        crashes.add(error)
        if (current === thread) current = undefined
      },
    })
    current = thread
    try {
      using deadline = startDeadline(START_DEADLINE_MS)
      await untilAborted(thread.call('ready', undefined), deadline.signal)
      return thread
    } catch (cause) {
      await drop()
      throw new AppError('internal', 'The thread that splits documents does not start', { cause })
    }
  }

  return {
    /**
     * Throws `PreparationError` when the call exceeded the deadline or the thread did not survive it, and
     * AppError `internal` when the thread cannot be started.
     */
    async run<Output>(call: (thread: Thread<PrepareMethods>) => Promise<Output>): Promise<Output> {
      clearTimeout(idleTimer)
      const thread = current ?? (await start())
      using deadline = startDeadline(deadlineMs)
      try {
        return await untilAborted(call(thread), deadline.signal)
      } catch (error) {
        const isLate = error === deadline.signal.reason
        if (!isLate && !crashes.has(Object(error))) throw error
        const code = isLate ? 'preparation_timeout' : 'preparation_crashed'
        const failure = new PreparationError(code, error)
        log?.warn({ err: failure }, 'the thread that splits documents is replaced')
        await drop()
        throw failure
      } finally {
        idleTimer = setTimeout(() => void drop(), idleMs).unref()
      }
    },
    terminate: drop,
  }
}
