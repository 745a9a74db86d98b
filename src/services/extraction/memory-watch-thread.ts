import { parentPort } from 'node:worker_threads'

// Beside the thread that reads, which may be busy for as long as it lives: memory outside the JavaScript heap
// has no limit of its own, and nobody else would notice that the server is gone.

const LOOK_MS = 100
/** The runtime, the parsers and what they make of a file, besides the file itself and one copy of it. */
const BASE_BYTES = 768 * 2 ** 20
const COPIES = 2

const server = process.ppid
let most = BASE_BYTES

parentPort?.on('message', ({ fileBytes }: { fileBytes: number }) => {
  most = BASE_BYTES + COPIES * fileBytes
})
setInterval(() => {
  const isOrphan = process.ppid !== server
  if (isOrphan || process.memoryUsage.rss() > most) process.kill(process.pid, 'SIGKILL')
}, LOOK_MS)
