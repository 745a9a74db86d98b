import { AppError } from '../../errors.ts'
import { startThread, type Thread } from '../../lib/thread.ts'
import { PreparationError } from './preparation-error.ts'
import type { PrepareMethods, PrepareThreadData } from './prepare-thread.ts'

const START_DEADLINE_MILLISECONDS = 30_000
/** Half of what there would be by itself: terms and passages are many and short-lived. */
const YOUNG_MEGABYTES = 24

interface Options {
  data: PrepareThreadData
  deadlineMilliseconds: number
  heapMegabytes: number
  log: { warn(fields: object, message: string): void } | undefined
}

/** A thread that is started when it is needed and replaced when a call takes too long or ends it. */
export interface SupervisedThread {
  /**
   * Throws `PreparationError` when the call exceeded the deadline or the thread did not survive it, and
   * AppError `internal` when the thread cannot be started.
   */
  run<Output>(call: (thread: Thread<PrepareMethods>) => Promise<Output>): Promise<Output>
  terminate(): Promise<void>
}

export function superviseThread(options: Options): SupervisedThread {
  const { data, deadlineMilliseconds, heapMegabytes, log } = options
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
      await within(START_DEADLINE_MILLISECONDS, thread.call('ready', undefined), startLate)
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
        return await within(deadlineMilliseconds, call(thread), late)
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
  return new Error(`not ready after ${START_DEADLINE_MILLISECONDS} ms`)
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
