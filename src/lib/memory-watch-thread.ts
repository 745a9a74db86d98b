import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

// Beside the thread that works, which may be busy for as long as it lives: memory outside the JavaScript heap
// has no limit of its own, and nobody else would notice that the server is gone.

const LOOK_MS = 100
const STDERR = 2

const server = process.ppid
let maximumBytes: number = workerData

parentPort?.on('message', (bytes: number) => {
  maximumBytes = bytes
})
setInterval(() => {
  const taken = process.memoryUsage.rss()
  if (process.ppid === server && taken <= maximumBytes) return
  if (taken > maximumBytes) writeSync(STDERR, `Out of memory: ${taken} of ${maximumBytes} bytes\n`)
  process.kill(process.pid, 'SIGKILL')
}, LOOK_MS)
