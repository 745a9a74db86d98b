import { Worker } from 'node:worker_threads'

// What both sides of a job know: who has it run, and the process that does the work.

/** What the job itself says went wrong, in words for whoever asked for it. */
export class JobRefusal extends Error {
  override readonly name: string = 'JobRefusal'
}

/** The job took more time or memory than it was given. The cause is what it wrote to its standard error. */
export class JobExhausted extends JobRefusal {
  override readonly name = 'JobExhausted'
}

/** The process ended by itself, for another reason than its memory. The cause is as above. */
export class JobCrashed extends Error {
  override readonly name = 'JobCrashed'
}

/**
 * Called in the process itself, which ends with its starter, and where it takes more memory than that allows.
 * The bound is changed by a message to the thread, in bytes.
 */
export function watchMemory(): Worker {
  const workerData = Number(process.argv[2]) * 2 ** 20
  const watch = new Worker(new URL('./memory-watch-thread.ts', import.meta.url), { workerData })
  watch.unref()
  process.once('disconnect', () => process.exit())
  return watch
}

/** What a job answers. */
export type JobAnswer = { output: unknown } | { refusal: string } | { failure: string }
