import { Worker } from 'node:worker_threads'

// Shared by both sides of a job, the parent and the process that does the work; and how such a process ends.

/** What the job itself reports as wrong, in words for the user. */
export class JobRefusal extends Error {
  override readonly name: string = 'JobRefusal'
}

/** The job took more time or memory than allowed. The cause is what it wrote to standard error. */
export class JobExhausted extends JobRefusal {
  override readonly name = 'JobExhausted'
}

/** The process ended on its own, for another reason than memory. The cause is what it wrote to standard error. */
export class JobCrashed extends Error {
  override readonly name = 'JobCrashed'
}

/** The message with which a job ends. */
export type JobAnswer = { output: unknown } | { refusal: string } | { failure: string }

/**
 * Call this in a process that works for its parent: it then ends soon after the parent has, even in an endless loop.
 */
export function endWithParent(): void {
  // With its own streams: if the worker shared those of the process, they would no longer wait until they are ready.
  const streams = { stdout: true, stderr: true }
  const watch = new URL('./parent-watch-thread.js', import.meta.url)
  new Worker(watch, { workerData: process.ppid, ...streams }).unref()
  process.once('disconnect', () => process.exit())
}
