import { Worker } from 'node:worker_threads'

/** Called in a process that works for its parent: it ends soon after that, even in an endless loop. */
export function endWithParent(): void {
  // With streams of its own: joined to those of the process, it would have them no longer wait until they are ready.
  const streams = { stdout: true, stderr: true }
  const watch = new URL('./parent-watch-thread.js', import.meta.url)
  new Worker(watch, { workerData: process.ppid, ...streams }).unref()
  process.once('disconnect', () => process.exit())
}
