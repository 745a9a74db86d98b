import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

interface JobOptions {
  /** The most memory its JavaScript heap may take. */
  heapMegabytes: number
  deadlineMs: number
  /** A directory that the job may write in; what native code reads and writes is its own affair. */
  directory?: string | undefined
}

/** What the job itself says went wrong, in words for whoever asked for it. */
export class JobRefusal extends Error {
  override readonly name = 'JobRefusal'
}

/** The job took more time or memory than it was given. */
export class JobExhausted extends Error {
  override readonly name = 'JobExhausted'
}

interface Answer {
  output?: unknown
  refusal?: string
  failure?: string
}

/**
 * Runs the module at `entry`, which must call `serveJob`, in a process of its own: without environment,
 * network or other processes, and killed when its time is over or `signal` is aborted. Throws `JobRefusal`,
 * `JobExhausted`, and what `signal` was aborted with.
 */
export async function runJob(
  entry: URL,
  input: unknown,
  { heapMegabytes, deadlineMs, directory }: JobOptions,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted()
  const readable = [
    ...PROGRAM_FILES,
    fileURLToPath(new URL('.', entry)),
    ...(directory ? [directory] : []),
  ]
  const child = fork(entry, [], {
    execArgv: [
      `--max-old-space-size=${heapMegabytes}`,
      ...['--permission', '--allow-addons', '--no-warnings'],
      ...readable.map((path) => `--allow-fs-read=${path}`),
      ...(directory ? [`--allow-fs-write=${directory}`] : []),
    ],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const deadline = AbortSignal.timeout(deadlineMs)
  const either = AbortSignal.any([signal, deadline])
  const kill = () => child.kill('SIGKILL')
  either.addEventListener('abort', kill)
  try {
    const { output, refusal, failure } = await answerOf(child, input)
    if (refusal !== undefined) throw new JobRefusal(refusal)
    if (failure !== undefined) throw new Error(`The job failed: ${failure}`)
    return output
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) throw new JobExhausted('took too long')
    throw error
  } finally {
    either.removeEventListener('abort', kill)
    kill()
  }
}

function answerOf(child: ChildProcess, input: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    child.once('message', (answer: Answer) => resolve(answer))
    child.once('error', reject)
    child.once('exit', () => reject(new JobExhausted('took too much memory')))
    child.send({ input }, (error) => error && reject(error))
  })
}

/** Answers the one job of this process with `work`; a `JobRefusal` that it throws is told in its own words. */
export function serveJob(work: (input: never) => Promise<unknown>): void {
  process.once('disconnect', () => process.exit())
  const answer = async (input: never) => {
    try {
      process.send?.({ output: await work(input) } satisfies Answer)
    } catch (error) {
      const told =
        error instanceof JobRefusal ? { refusal: error.message } : { failure: stackOf(error) }
      process.send?.(told satisfies Answer)
    }
  }
  process.once('message', ({ input }: { input: never }) => void answer(input))
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** All that a process of ours may read: the program and its packages, but not the keys and the data beside them. */
export const PROGRAM_FILES: readonly string[] = [
  '../../src',
  '../../node_modules',
  '../../package.json',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))
