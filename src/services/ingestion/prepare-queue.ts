import { AppError } from '../../errors.ts'
import type { TermBatch } from '../../indexes/term-batch.ts'
import type { IndexedText, Source } from './prepare.ts'
import type { PackedSource } from './prepare-thread.ts'

/** The most calls that may wait for the thread. */
const MOST_WAITING = 1_024
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
  passages: readonly IndexedText[]
}

type Task = SourceTask | AnalyseTask

/** What the thread does; it is given one call at a time, so that a deadline is one call's own. */
interface Thread {
  prepare(sources: readonly Source[]): Promise<readonly PackedSource[]>
  analyse(passages: readonly IndexedText[]): Promise<TermBatch>
}

/**
 * Calls that wait for the thread, in order. They reject with what the thread throws, with `queue_full` when
 * too many wait, with `shutting_down` once closed, with the reason of the signal.
 */
export interface PrepareQueue {
  prepare(source: Source, signal?: AbortSignal): Promise<PackedSource>
  analyse(passages: readonly IndexedText[]): Promise<TermBatch>
  /** Rejects what waits. What is under way ends with the thread. */
  close(): void
}

export function createPrepareQueue(thread: Thread): PrepareQueue {
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
    await thread.analyse(first.passages).then(first.resolve, first.reject)
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
    if (waiting.length >= MOST_WAITING) {
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
    async analyse(passages) {
      const { promise, resolve, reject } = Promise.withResolvers<TermBatch>()
      enqueue({ kind: 'analyse', passages, resolve, reject })
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
