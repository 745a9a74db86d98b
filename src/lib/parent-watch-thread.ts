import { workerData } from 'node:worker_threads'

const INTERVAL_MS = 1_000

// An endless loop holds the main thread, which therefore cannot see that the server has gone.
const server: number = workerData
setInterval(() => {
  if (process.ppid !== server) process.kill(process.pid, 'SIGKILL')
}, INTERVAL_MS)
