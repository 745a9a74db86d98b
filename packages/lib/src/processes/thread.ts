import { setImmediate } from 'node:timers/promises'
import { parentPort, type Transferable, Worker } from 'node:worker_threads'
import { AppError, type ErrorCode } from '../errors.ts'
import { freeMemoryWhenIdle } from './free-memory.ts'

interface Request {
  id: number
  method: string
  input: unknown
}

type Response =
  | { id: number; output: unknown }
  | { id: number; error: PackedError }
  | { notice: Notice }

/** A thrown error in transit: a structured clone keeps only the message of an `AppError`. */
export type PackedError =
  | { thrown: unknown }
  | {
      code: ErrorCode
      message: string
      param: string | undefined
      retryAfter: number | undefined
      cause: Error | undefined
    }

/** A message that a thread sends on its own, for the log. */
export interface Notice {
  message: string
  fields: object
}

const TRANSFERRING = Symbol('transferring')

interface Transferring<Output> {
  [TRANSFERRING]: readonly Transferable[]
  output: Output
}

/** The methods of a thread: each takes one input and gives one output. */
type ThreadMethods = Record<string, (input: never) => unknown>

export type ThreadInput<Method> = Method extends (input: infer I) => unknown ? I : never
type Output<Method> = Method extends (input: never) => infer O ? Plain<Awaited<O>> : never
type Plain<O> = O extends Transferring<infer Inner> ? Inner : O

export interface ThreadOptions {
  /** Passed to the thread as `workerData`. */
  data?: unknown
  /** Called once if the thread ends on its own; all calls in flight have been rejected by then. */
  onCrash?: (error: Error) => void
  /** Called with each notice that the thread passes to `notify`. */
  onNotice?: (notice: Notice) => void
  /** The maximum size of its JavaScript heap, in megabytes. */
  heapMegabytes?: number
}

/** A worker thread that answers calls in the order in which they were made. */
export interface Thread<Methods extends ThreadMethods> {
  call<Name extends keyof Methods & string>(
    method: Name,
    input: ThreadInput<Methods[Name]>,
    transfer?: readonly Transferable[],
  ): Promise<Output<Methods[Name]>>
  /** Ends the thread; calls in flight are rejected. */
  terminate(): Promise<void>
}

interface Waiting {
  resolve: (output: unknown) => void
  reject: (error: Error) => void
}

/** Starts the module at `url`, which must call `serveThread` with the same methods. */
export function startThread<Methods extends ThreadMethods>(
  url: URL,
  { data, onCrash, onNotice, heapMegabytes }: ThreadOptions = {},
): Thread<Methods> {
  const worker = new Worker(url, {
    workerData: data,
    resourceLimits: { ...(heapMegabytes && { maxOldGenerationSizeMb: heapMegabytes }) },
  })
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let failure: Error | undefined
  let terminating = false

  const end = (error: Error) => {
    if (failure) return
    failure = error
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    if (!terminating) onCrash?.(error)
  }

  worker.on('message', (response: Response) => {
    if ('notice' in response) {
      onNotice?.(response.notice)
      return
    }
    const call = waiting.get(response.id)
    waiting.delete(response.id)
    if (!call) return
    if ('output' in response) call.resolve(response.output)
    else call.reject(unpackError(response.error))
  })
  worker.on('error', (error) => end(toError(error)))
  worker.on('exit', (code) => end(new Error(`The thread ${url.pathname} ended with code ${code}`)))

  return {
    call(method, input, transfer = []) {
      if (failure) return Promise.reject(failure)
      return new Promise((resolve, reject) => {
        // The thread answers with the method's own output, as a structured clone.
        waiting.set(++lastId, { resolve: resolve as Waiting['resolve'], reject })
        worker.postMessage({ id: lastId, method, input } satisfies Request, [...transfer])
      })
    },
    async terminate() {
      terminating = true
      await worker.terminate()
    },
  }
}

/** Shorter than for the main thread: one thread has done its part while others continue for long. */
const IDLE_CHECK_MS = 2_000

/**
 * Answers calls with `methods`, each finishing before the next begins; with `overlapping`, each begins as it
 * arrives, in order, even while an earlier one is still waiting.
 */
export function serveThread(methods: ThreadMethods, { overlapping = false } = {}): void {
  const port = parentPort
  if (!port) throw new Error('serveThread runs in a worker thread only')
  freeMemoryWhenIdle(IDLE_CHECK_MS)
  let previous: Promise<void> = Promise.resolve()

  const answer = async ({ id, method, input }: Request) => {
    try {
      const handler = methods[method]
      if (!handler) throw new Error(`The thread has no method ${method}`)
      const output: unknown = await Reflect.apply(handler, undefined, [input])
      if (isTransferring(output)) {
        port.postMessage({ id, output: output.output }, [...output[TRANSFERRING]])
      } else port.postMessage({ id, output })
    } catch (error) {
      port.postMessage({ id, error: packError(error) })
    }
  }
  port.on('message', (request: Request) => {
    if (overlapping) void answer(request)
    else previous = previous.then(() => answer(request))
  })
}

/** Sends a notice to the thread that started this one. */
export function notify(notice: Notice): void {
  parentPort?.postMessage({ notice } satisfies Response)
}

/** Marks a thread's answer so that `buffers` move to the caller instead of being copied. */
export function transferring<Output>(
  output: Output,
  buffers: readonly Transferable[],
): Transferring<Output> {
  return { [TRANSFERRING]: buffers, output }
}

/** How long a thread works in one go while calls may be waiting for it. */
const SLICE_MS = 2

/** Runs `work` to its end, letting the thread answer calls between its steps. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const end = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < end)
    await setImmediate()
  }
}

function isTransferring(output: unknown): output is Transferring<unknown> {
  return typeof output === 'object' && output !== null && TRANSFERRING in output
}

export function packError(thrown: unknown): PackedError {
  if (!(thrown instanceof AppError)) return { thrown }
  const { code, message, param, retryAfter, cause } = thrown
  return { code, message, param, retryAfter, cause: cause instanceof Error ? cause : undefined }
}

export function unpackError(packed: PackedError): Error {
  if ('thrown' in packed) return toError(packed.thrown)
  const { code, message, ...options } = packed
  return new AppError(code, message, options)
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
