import { Worker } from 'node:worker_threads'
import { Refusal } from '../refusal.ts'

// Shared by both sides of a job, the parent and the process that does the work; and how such a process ends.

/** The job took more time or memory than allowed. The cause is what it wrote to standard error. */
export class JobExhausted extends Refusal {
  override readonly name = 'JobExhausted'
}

/** The process ended on its own, for another reason than memory. The cause is what it wrote to standard error. */
export class JobCrashed extends Error {
  override readonly name = 'JobCrashed'
}

/** The message with which a job ends. */
export type JobAnswer = { output: unknown } | { refusal: string } | { failure: string }

/** The first message of a process: its modules are loaded. */
export const STARTED = 'started'

/**
 * Call this in a process that works for its parent: it then ends soon after the parent has, even in an endless loop.
 */
export function endWithParent(): void {
  process.send?.(STARTED)
  // With its own streams: if the worker shared those of the process, they would no longer wait until they are ready.
  const streams = { stdout: true, stderr: true }
  const watch = new URL('./parent-watch-thread.js', import.meta.url)
  new Worker(watch, { workerData: process.ppid, ...streams }).unref()
  process.once('disconnect', () => process.exit())
}
