import { fork } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { startDeadline, untilAborted } from '../abort.ts'
import { createSemaphore } from '../semaphore.ts'
import { boundMemory } from './bound-memory.ts'
import { type JobAnswer, JobCrashed, JobExhausted, JobRefusal } from './job.ts'
import { COMPILE_CACHE } from './precompile.ts'
import { residentBytes } from './resident-memory.ts'

const BYTES_PER_MEGABYTE = 2 ** 20
/** How many of the last characters of a process's standard error are kept. */
const MAX_STDERR = 4_096
/** What V8, C++ and Rust print before they end a process that is out of memory. */
const OUT_OF_MEMORY = /out of memory|allocation failed|bad_alloc|memory allocation of \d+ bytes/i
/** The entry point of all jobs. */
const JOB_ENTRY = new URL('./job-process.ts', import.meta.url)

/** All that our child processes may read: the program and its packages, but not the keys and data beside them. */
export const PROGRAM_FILES = ['../../../src', '../../../node_modules', '../../../package.json'].map(
  (path) => fileURLToPath(new URL(path, import.meta.url)),
)

export interface ProcessLimits {
  /** The maximum size of its JavaScript heap. */
  heapMegabytes: number
  /** The maximum memory in all; a process that exceeds it is killed within a tenth of a second. */
  residentMegabytes: number
  /** A directory that it may read and write. Native code is not bound by this. */
  directory?: string
}

interface ProcessStart {
  entry: URL
  job?: Pick<Job, 'module' | 'run'>
  /** Files and directories that it may read besides the program. */
  readable?: readonly string[]
}

interface ProcessHandlers<Message> {
  onMessage: (message: Message) => void
  /** Called once, with `JobExhausted` if it ran out of memory, else with `JobCrashed`. */
  onEnd: (error: Error) => void
}

/**
 * Starts the module at `entry` in its own process, to read untrusted input: without environment, network, other
 * processes, or any file but the program. The module must call `endWithParent`.
 */
export function startProcess<Message>(
  { entry, job, readable: files = [] }: ProcessStart,
  { heapMegabytes, residentMegabytes, directory }: ProcessLimits,
  { onMessage, onEnd }: ProcessHandlers<Message>,
) {
  const readable = [
    ...PROGRAM_FILES,
    ...(COMPILE_CACHE ? [COMPILE_CACHE] : []),
    fileURLToPath(new URL('.', job?.module ?? entry)),
    ...(directory === undefined ? [] : [directory]),
    ...files,
  ]
  const args = job === undefined ? [] : [job.module.href, job.run]
  const child = fork(entry, args, {
    execArgv: [
      `--max-old-space-size=${heapMegabytes}`,
      ...['--permission', '--allow-addons', '--allow-worker', '--no-warnings'],
      ...readable.map((path) => `--allow-fs-read=${path}`),
      ...(directory === undefined ? [] : [`--allow-fs-write=${directory}`]),
    ],
    env: COMPILE_CACHE
      ? { NODE_COMPILE_CACHE: dirname(COMPILE_CACHE), NODE_COMPILE_CACHE_READONLY: '1' }
      : {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const memory = boundMemory(child, residentMegabytes * BYTES_PER_MEGABYTE)
  let stderr = ''
  let isOutOfMemory = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const all = stderr + text
    isOutOfMemory ||= OUT_OF_MEMORY.test(all)
    stderr = all.slice(-MAX_STDERR)
  })
  child.on('message', onMessage)
  child.on('error', onEnd)
  // On `close`, because standard error, which says why, has then ended.
  child.on('close', (code, signal) => {
    const reason = memory.reason()
    const words = reason === undefined ? stderr : `${reason}\n${stderr}`
    const cause = words === '' ? undefined : new Error(words)
    // The system kills silently when it runs out of memory.
    const isMemory = signal === 'SIGKILL' ? !child.killed : signal !== null && isOutOfMemory
    if (isMemory) onEnd(new JobExhausted('took too much memory', { cause }))
    else onEnd(new JobCrashed(`ended with ${signal ?? `exit code ${code}`}`, { cause }))
  })
  return {
    /** Resolves once the other side has room for more, or will never read again. */
    send: (message: unknown) =>
      new Promise<void>((resolve) => {
        if (child.connected) child.send(Object(message), () => resolve())
        else resolve()
      }),
    isAlive: () => child.connected,
    memory: { bytes: () => residentBytes(child.pid ?? 0), bound: memory.change },
    kill: () => void child.kill('SIGKILL'),
  }
}

export interface Job extends ProcessLimits {
  /** What it does, in words for the user: `Drawing the chart`. */
  task: string
  /** What would help if it takes too much time or memory. */
  advice?: string
  /** The module that does the work, loaded only by the job's process. */
  module: URL
  /** The module's function that is called with the input. */
  run: string
  deadlineMs: number
}

/**
 * Runs a function of a module in its own process, which is killed at its deadline or when `signal` aborts. Throws
 * `JobRefusal` (of which `JobExhausted` is a kind), `JobCrashed`, and the reason of `signal`.
 */
export async function runJob(
  { task, advice, module, run, deadlineMs, ...limits }: Job,
  input: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted()
  const answered = Promise.withResolvers<JobAnswer>()
  const handlers = { onMessage: answered.resolve, onEnd: answered.reject }
  const child = startProcess({ entry: JOB_ENTRY, job: { module, run } }, limits, handlers)
  using deadline = startDeadline(deadlineMs, signal)
  try {
    child.send({ input }).catch(answered.reject)
    const answer = await untilAborted(answered.promise, deadline.signal)
    if ('refusal' in answer) throw new JobRefusal(answer.refusal)
    if ('failure' in answer) throw new Error(`The job failed: ${answer.failure}`)
    return answer.output
  } catch (error) {
    signal.throwIfAborted()
    const exhausted = error === deadline.signal.reason ? new JobExhausted('took too long') : error
    if (!(exhausted instanceof JobExhausted)) throw error
    const { message, cause } = exhausted
    throw new JobExhausted(`${task} ${message}${advice ? `: ${advice}` : ''}`, { cause })
  } finally {
    child.kill()
  }
}

const MAX_JOBS = 2
const MAX_WAITING_JOBS = 50

export type JobRunner = ReturnType<typeof createJobRunner>

/** Runs jobs like `runJob`, a few at a time, and validates their output. */
export function createJobRunner() {
  const semaphore = createSemaphore(MAX_JOBS, MAX_WAITING_JOBS)
  return async <Output>(
    job: Job,
    schema: z.ZodType<Output>,
    input: unknown,
    signal: AbortSignal,
  ): Promise<Output> => schema.parse(await semaphore.run(() => runJob(job, input, signal), signal))
}
