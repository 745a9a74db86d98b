import { existsSync, watch } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, workerData } from 'node:worker_threads'

// Fault injection for tests of the whole process: loaded before the server with Node's `--import`, which its
// threads inherit. A file of a thread's name in the working directory ends that thread, or holds it up before it
// loads anything.
const name = nameOf(workerData)
if (!isMainThread) {
  while (existsSync(`hold-${name}`)) await setTimeout(5)
  watch('.', (_event, file) => {
    if (file === `end-${name}`) process.exit(3)
  }).unref()
}

function nameOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return 'writer'
  return 'fingerprint' in data ? 'index' : 'preparer'
}
