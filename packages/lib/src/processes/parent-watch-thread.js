// Plain JavaScript, because every job process starts it: loading what strips types would take longer than all
// else here.
import { workerData } from 'node:worker_threads'

const INTERVAL_MS = 1_000

// In an endless loop the main thread could not see that the server has ended.
/** @type {number} */
const server = workerData
setInterval(() => {
  if (process.ppid !== server) process.kill(process.pid, 'SIGKILL')
}, INTERVAL_MS)
