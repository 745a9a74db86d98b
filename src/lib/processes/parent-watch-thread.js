// JavaScript, for every process that does a job starts it: to load what strips types takes longer than all else here.
import { workerData } from 'node:worker_threads'

const INTERVAL_MS = 1_000

// An endless loop holds the main thread, which therefore cannot see that the server has gone.
/** @type {number} */
const server = workerData
setInterval(() => {
  if (process.ppid !== server) process.kill(process.pid, 'SIGKILL')
}, INTERVAL_MS)
