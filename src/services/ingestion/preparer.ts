import { AppError } from '../../errors.ts'
import type { AnalyserLanguage } from '../../indexes/analyser/languages.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { startThread, type Thread } from '../../lib/thread.ts'
import {
  type IndexedText,
  type PreparedPiece,
  type Preparer,
  type Source,
  unpackChunks,
} from './prepare.ts'
import type { PackedSource, PrepareMethods, PrepareThreadData } from './prepare-thread.ts'
import { PreparationError, withoutText } from './retry-policy.ts'

const HEAP_MEGABYTES = 1_024

export interface PreparerOptions {
  language: AnalyserLanguage
  /** How long splitting and analysing one document may take. */
  deadlineMs: number
  /** The most memory one document may make the thread take. */
  heapMegabytes?: number
  log?: { warn(fields: object, message: string): void }
}

/**
 * Splits and analyses in one worker thread. A document that takes too long or crashes the thread fails
 * alone, with a `PreparationError`; those sent together with it are tried again, each by itself.
 * Throws AppError `queue_full` when too many calls wait for the thread.
 */
export function createPreparer(options: PreparerOptions): Preparer {
  const { language, deadlineMs, heapMegabytes = HEAP_MEGABYTES, log } = options
  const thread = superviseThread({
    data: { language },
    deadlineMs,
    heapMegabytes,
    log,
  })
  const queue = createPrepareQueue({
    prepare: (sources) => thread.run((open) => open.call('prepare', sources)),
    analyse: (chunks) => thread.run((open) => open.call('analyse', chunks)),
  })

  return {
    async prepare(source, signal) {
      const { chunks, terms } = unpack(source, await queue.prepare(source, signal))
      if (chunks.length === 0) throw withoutText()
      return { chunks, terms }
    },
    preparePiece: async (source, signal) => unpack(source, await queue.prepare(source, signal)),
    analyse: queue.analyse,
    async close() {
      queue.close()
      await thread.terminate()
    },
  }
}

function unpack(source: Source, { chunks, terms, context }: PackedSource): PreparedPiece {
  return { chunks: unpackChunks(source.text, chunks), terms, context }
}

/** The most calls that may wait for the thread. */
const MAX_WAITING = 1_024
/** Small documents go to the thread together, up to this many and this much text. */
const BATCH_DOCUMENTS = 64
const BATCH_CHARACTERS = 131_072

interface Settle<Output> {
  resolve: (output: Output) => void
  reject: (error: unknown) => void
}

interface SourceTask extends Settle<PackedSource> {
  kind: 'prepare'
  source: Source
  /** Goes to the thread by itself, so that it is known who is at fault. */
  alone: boolean
}

interface AnalyseTask extends Settle<TermBatch> {
  kind: 'analyse'
  chunks: readonly IndexedText[]
}

type Task = SourceTask | AnalyseTask

/** What the thread does; it is given one call at a time, so that a deadline is one call's own. */
interface PrepareQueueThread {
  prepare(sources: readonly Source[]): Promise<readonly PackedSource[]>
  analyse(chunks: readonly IndexedText[]): Promise<TermBatch>
}

/**
 * Calls that wait for the thread, in order. They reject with what the thread throws, with `queue_full` when
 * too many wait, with `shutting_down` once closed, with the reason of the signal.
 */
interface PrepareQueue {
  prepare(source: Source, signal?: AbortSignal): Promise<PackedSource>
  analyse(chunks: readonly IndexedText[]): Promise<TermBatch>
  /** Rejects what waits. What is under way ends with the thread. */
  close(): void
}

export function createPrepareQueue(thread: PrepareQueueThread): PrepareQueue {
  const waiting: Task[] = []
  let running = false
  let closed = false

  const prepareTogether = async (tasks: readonly SourceTask[]) => {
    try {
      const outputs = await thread.prepare(tasks.map(({ source }) => source))
      for (const [index, output] of outputs.entries()) tasks[index]?.resolve(output)
    } catch (error) {
      if (closed || tasks.length === 1 || error instanceof AppError) rejectAll(tasks, error)
      else retryAlone(tasks)
    }
  }

  const retryAlone = (tasks: readonly SourceTask[]) => {
    for (const task of tasks) task.alone = true
    waiting.unshift(...tasks)
  }

  const runNext = async () => {
    const [first] = waiting
    if (first?.kind !== 'analyse') return prepareTogether(takeBatch(waiting))
    waiting.shift()
    await thread.analyse(first.chunks).then(first.resolve, first.reject)
  }

  const runAll = async () => {
    if (running) return
    running = true
    // Lets the documents of the same moment into the first call.
    await Promise.resolve()
    while (waiting.length > 0) await runNext()
    running = false
  }

  const enqueue = (task: Task) => {
    if (closed) throw shuttingDown()
    if (waiting.length >= MAX_WAITING) {
      throw new AppError('queue_full', 'Too many documents wait to be split')
    }
    waiting.push(task)
    void runAll()
  }

  return {
    async prepare(source, signal) {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<PackedSource>()
      const task: SourceTask = { kind: 'prepare', source, alone: false, resolve, reject }
      enqueue(task)
      const leave = () => {
        const index = waiting.indexOf(task)
        if (index >= 0) waiting.splice(index, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      return promise.finally(() => signal?.removeEventListener('abort', leave))
    },
    async analyse(chunks) {
      const { promise, resolve, reject } = Promise.withResolvers<TermBatch>()
      enqueue({ kind: 'analyse', chunks, resolve, reject })
      return promise
    },
    close() {
      closed = true
      rejectAll(waiting.splice(0), shuttingDown())
    },
  }
}

function rejectAll(tasks: readonly Task[], error: unknown): void {
  for (const { reject } of tasks) reject(error)
}

function shuttingDown(): AppError {
  return new AppError('shutting_down', 'The server is shutting down')
}

/** The next document, with those behind it that are small enough to go together. */
function takeBatch(waiting: Task[]): SourceTask[] {
  const batch: SourceTask[] = []
  let characters = 0
  for (const task of waiting) {
    if (task.kind !== 'prepare' || batch.length === BATCH_DOCUMENTS) break
    characters += task.source.text.length
    const joins = !task.alone && characters <= BATCH_CHARACTERS
    if (batch.length > 0 && !joins) break
    batch.push(task)
    if (task.alone) break
  }
  waiting.splice(0, batch.length)
  return batch
}

const START_DEADLINE_MS = 30_000
/** Half of what there would be by itself: terms and chunks are many and short-lived. */
const YOUNG_MEGABYTES = 24

interface Options {
  data: PrepareThreadData
  deadlineMs: number
  heapMegabytes: number
  log: { warn(fields: object, message: string): void } | undefined
}

/** A thread that is started when it is needed and replaced when a call takes too long or ends it. */
interface SupervisedThread {
  /**
   * Throws `PreparationError` when the call exceeded the deadline or the thread did not survive it, and
   * AppError `internal` when the thread cannot be started.
   */
  run<Output>(call: (thread: Thread<PrepareMethods>) => Promise<Output>): Promise<Output>
  terminate(): Promise<void>
}

function superviseThread(options: Options): SupervisedThread {
  const { data, deadlineMs, heapMegabytes, log } = options
  const ended = new WeakSet<Thread<PrepareMethods>>()
  let current: Thread<PrepareMethods> | undefined

  const start = async () => {
    const thread = startThread<PrepareMethods>(new URL('./prepare-thread.ts', import.meta.url), {
      data,
      heapMegabytes,
      youngMegabytes: YOUNG_MEGABYTES,
      onCrash() {
        ended.add(thread)
        if (current === thread) current = undefined
      },
    })
    current = thread
    try {
      await within(START_DEADLINE_MS, thread.call('ready', undefined), startLate)
      return thread
    } catch (cause) {
      await drop(thread)
      throw new AppError('internal', 'The thread that splits documents does not start', { cause })
    }
  }

  const drop = async (thread: Thread<PrepareMethods>) => {
    if (current === thread) current = undefined
    await thread.terminate()
  }

  return {
    async run(call) {
      const thread = current ?? (await start())
      try {
        return await within(deadlineMs, call(thread), late)
      } catch (error) {
        const failure = ended.has(thread)
          ? new PreparationError('preparation_crashed', error)
          : error
        if (failure instanceof PreparationError) {
          log?.warn({ err: failure }, 'the thread that splits documents is replaced')
          await drop(thread)
        }
        throw failure
      }
    },
    async terminate() {
      if (current) await drop(current)
    },
  }
}

function startLate(): Error {
  return new Error(`not ready after ${START_DEADLINE_MS} ms`)
}

function late(): Error {
  return new PreparationError('preparation_timeout')
}

async function within<Output>(
  milliseconds: number,
  work: Promise<Output>,
  toError: () => Error,
): Promise<Output> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(toError()), milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
