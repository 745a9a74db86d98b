import { watch } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

// Fault injection for tests of the whole process: loaded before the server with Node's `--import`, which its
// threads inherit. A file of a thread's name in the working directory ends that thread.
const name = nameOf(workerData)
if (!isMainThread) {
  watch('.', (_event, file) => {
    if (file === `end-${name}`) process.exit(3)
  }).unref()
}

function nameOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return 'writer'
  return 'fingerprint' in data ? 'index' : 'preparer'
}
