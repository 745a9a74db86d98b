import { fork } from 'node:child_process'
import { existsSync, globSync, realpathSync } from 'node:fs'
import { totalmem } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { startDeadline, untilAborted } from '../abort.ts'
import { createLimiter, type Owner, TooManyWaiting } from '../limiter.ts'
import { Refusal } from '../refusal.ts'
import { boundMemory } from './bound-memory.ts'
import { type JobAnswer, JobCrashed, JobExhausted, STARTED } from './job.ts'
import { processorMsOf } from './processor-time.ts'
import { residentBytes } from './resident-memory.ts'

const BYTES_PER_MEGABYTE = 2 ** 20
/** How many of the last characters of a process's standard error are kept. */
const MAX_STDERR = 4_096
/** What V8, C++ and Rust print before they end a process that is out of memory. */
const OUT_OF_MEMORY =
  /out of memory|allocation failed|failed to allocate|bad_alloc|memory allocation of \d+ bytes/i
/** The entry point of all jobs. */
export const JOB_ENTRY = new URL('./job-process.ts', import.meta.url)

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
/** The packages beside this one, where it is itself installed. */
const INSTALLED = basename(dirname(ROOT)) === 'node_modules' ? ['..'] : []

let readableFiles: readonly string[] | undefined

/** All that our child processes may read: the program and its packages, but not the keys and data beside them. */
export function programFiles(): readonly string[] {
  // Not at the start: such a process loads this module, too, and may not look for all of them.
  readableFiles ??= [
    ...['src', 'packages', 'node_modules', 'package.json'],
    // Where the links to the server's own packages lead, if node_modules is itself a link.
    ...globSync('node_modules/@agent-server/*', { cwd: ROOT }),
    ...INSTALLED,
  ]
    .map((path) => join(ROOT, path))
    // A package that is installed need not have packages of its own.
    .filter((path) => existsSync(path))
    // Node.js checks both a symbolic link and where it leads.
    .flatMap((path) => [...new Set([path, realpathSync(path)])])
  return readableFiles
}

export interface ProcessLimits {
  /** The maximum size of its JavaScript heap. */
  heapMegabytes: number
  /** The maximum memory in all; a process that exceeds it is killed within a tenth of a second. */
  residentMegabytes: number
  /**
   * The most writable memory that the system lets it map, on Linux: a hard limit besides the watch. Node.js itself maps
   * about a gigabyte more than it uses.
   */
  mappedMegabytes?: number
  /** A directory that it may read and write. Native code is not bound by this. */
  directory?: string
  /** Keeps little memory that it does not use, at the price of some time: for a process that stays. */
  isFrugal?: boolean
}

/** Young objects are collected more often, and what is free is given back to the system. */
const FRUGAL = {
  args: ['--max-semi-space-size=1'],
  // For the GNU C library, in bytes; others ignore it.
  environment: { MALLOC_TRIM_THRESHOLD_: '131072' },
}

interface ProcessStart {
  entry: URL
  job?: Pick<Job, 'module' | 'run'>
  /** Files and directories that it may read besides the program. */
  readable?: readonly string[]
}

interface ProcessHandlers<Message> {
  /** Called once its modules are loaded. */
  onStart?: () => void
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
  { heapMegabytes, residentMegabytes, mappedMegabytes, directory, isFrugal }: ProcessLimits,
  { onStart, onMessage, onEnd }: ProcessHandlers<Message>,
) {
  const readable = [
    ...programFiles(),
    fileURLToPath(new URL('.', job?.module ?? entry)),
    ...(directory === undefined ? [] : [directory]),
    ...files,
  ]
  const args = job === undefined ? [] : [job.module.href, job.run]
  const limited = mappedMegabytes === undefined ? undefined : within(mappedMegabytes)
  const child = fork(entry, args, {
    ...(limited && { execPath: limited.path }),
    execArgv: [
      ...(limited?.args ?? []),
      `--max-old-space-size=${heapMegabytes}`,
      ...(isFrugal ? FRUGAL.args : []),
      '--permission',
      '--allow-addons',
      '--allow-worker',
      '--no-warnings',
      ...readable.map((path) => `--allow-fs-read=${path}`),
      ...(directory === undefined ? [] : [`--allow-fs-write=${directory}`]),
    ],
    env: isFrugal ? FRUGAL.environment : {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Not reached by a terminal's Ctrl-C, at which the server ends its work in flight by itself.
    detached: true,
  })
  const memory = boundMemory(child, residentMegabytes * BYTES_PER_MEGABYTE)
  let stderr = ''
  let isOutOfMemory = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const all = stderr + text
    isOutOfMemory ||= OUT_OF_MEMORY.test(all)
    stderr = all.slice(-MAX_STDERR)
  })
  child.on('message', (message: Message | typeof STARTED) => {
    if (message === STARTED) onStart?.()
    else onMessage(message)
  })
  child.on('error', onEnd)
  // On `close`, because standard error, which says why, has then ended.
  child.on('close', (code, signal) => {
    const reason = memory.reason()
    const words = reason === undefined ? stderr : `${reason}\n${stderr}`
    const cause = words === '' ? undefined : new Error(words)
    // The system kills silently when it runs out of memory.
    const isMemory = signal === 'SIGKILL' ? !child.killed : signal !== null && isOutOfMemory
    if (isMemory) onEnd(new JobExhausted('took too much memory', { cause }))
    else
      onEnd(
        new JobCrashed(deniedIn(stderr) ?? `ended with ${signal ?? `exit code ${code}`}`, {
          cause,
        }),
      )
  })
  return {
    /** Resolves once the other side has room for more, or will never read again. */
    send: (message: object) =>
      new Promise<void>((resolve) => {
        if (child.connected) child.send(message, () => resolve())
        else resolve()
      }),
    isAlive: () => child.connected,
    memory: { bytes: () => residentBytes(child.pid ?? 0), bound: memory.change },
    /** The processor time that it has taken; 0 elsewhere than on Linux. */
    processorMs: () => processorMsOf(child.pid ?? 0),
    kill: () => void child.kill('SIGKILL'),
  }
}

const KILOBYTES_PER_MEGABYTE = 1_024

/** The shell that sets the limit and then becomes Node.js; only Linux counts what a process maps. */
function within(mappedMegabytes: number) {
  if (process.platform !== 'linux') return undefined
  const limit = `ulimit -d ${mappedMegabytes * KILOBYTES_PER_MEGABYTE} && exec "$0" "$@"`
  return { path: '/bin/sh', args: ['-c', limit, process.execPath] }
}

const CHECK_LIMITS = { heapMegabytes: 192, residentMegabytes: 640 }
const CHECK_MS = 30_000

/** Starts the module at `entry` and ends it once it is loaded. Throws what says why it does not start. */
export async function checkProcess(entry: URL): Promise<void> {
  const started = Promise.withResolvers<void>()
  using deadline = startDeadline(CHECK_MS)
  const child = startProcess({ entry }, CHECK_LIMITS, {
    onStart: started.resolve,
    onMessage: () => undefined,
    onEnd: started.reject,
  })
  try {
    await untilAborted(started.promise, deadline.signal)
  } finally {
    child.kill()
  }
}

/** Explains an installation whose packages lie where a child process may not read them. */
function deniedIn(words: string): string | undefined {
  if (!words.includes('--allow-fs-read')) return undefined
  const [, path = 'a file'] = /resource: '([^']*)'/.exec(words) ?? []
  return `may not read ${path}: it can only read ${programFiles().join(', ')}, so the packages must be installed there`
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
 * `Refusal` (of which `JobExhausted` is a kind), `JobCrashed`, and the reason of `signal`.
 */
export async function runJob(
  { task, advice, module, run, deadlineMs, ...limits }: Job,
  input: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted()
  const reply = Promise.withResolvers<JobAnswer>()
  const handlers = { onMessage: reply.resolve, onEnd: reply.reject }
  const child = startProcess({ entry: JOB_ENTRY, job: { module, run } }, limits, handlers)
  using deadline = startDeadline(deadlineMs, signal)
  try {
    child.send({ input }).catch(reply.reject)
    const answer = await untilAborted(reply.promise, deadline.signal)
    return outputOf(answer)
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

/** Throws `Refusal`, of which `JobExhausted` is a kind, and an Error for a failure that is our fault. */
function outputOf(answer: JobAnswer): unknown {
  if ('output' in answer) return answer.output
  if ('refusal' in answer) throw new Refusal(answer.refusal)
  const { failure } = answer
  if (OUT_OF_MEMORY.test(failure)) {
    throw new JobExhausted('took too much memory', { cause: new Error(failure) })
  }
  throw new Error(`The job ${deniedIn(failure) ?? 'failed'}: ${failure}`)
}

const BYTES_FOR_TWO_JOBS = 4e9
const BYTES_FOR_THREE_JOBS = 8e9
const MAX_WAITING_JOBS = 50

/** How many jobs run at the same time in so much memory: each may take a gigabyte beside the server. */
export function jobsAtOnce(bytes: number): number {
  if (bytes < BYTES_FOR_TWO_JOBS) return 1
  return bytes < BYTES_FOR_THREE_JOBS ? 2 : 3
}

/** The memory of the whole process, which all share; without a limit, `constrainedMemory` is 0 or immense. */
const capacity = jobsAtOnce(Math.min(totalmem(), process.constrainedMemory() || totalmem()))
const turns = createLimiter({
  name: 'jobs',
  capacity,
  reserve: capacity > 2 ? 1 : 0,
  maxWaiting: MAX_WAITING_JOBS,
})

interface OwnedInput {
  input: unknown
  owner: Owner
}

/**
 * Runs a job like `runJob` when it is its turn, and validates its output. Throws `Refusal` also if too many wait.
 */
export async function runJobInTurn<Output>(
  job: Job,
  schema: z.ZodType<Output>,
  { input, owner }: OwnedInput,
  signal: AbortSignal,
): Promise<Output> {
  try {
    return schema.parse(await turns.run(owner, () => runJob(job, input, signal), signal))
  } catch (error) {
    if (!(error instanceof TooManyWaiting)) throw error
    throw new Refusal(`${job.task} has to wait: ${error.message}; try again later`)
  }
}

export type JobRunner = typeof runJobInTurn
