import { Worker } from 'node:worker_threads'

// What both sides of a job know, the one that has it run and the process that does the work; and how such a process ends.

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

/** What a job answers. */
export type JobAnswer = { output: unknown } | { refusal: string } | { failure: string }

/** To be called in a process that works for its parent: it then ends soon after the parent has, even in an endless loop. */
export function endWithParent(): void {
  // With streams of its own: joined to those of the process, it would have them no longer wait until they are ready.
  const streams = { stdout: true, stderr: true }
  const watch = new URL('./parent-watch-thread.js', import.meta.url)
  new Worker(watch, { workerData: process.ppid, ...streams }).unref()
  process.once('disconnect', () => process.exit())
}
