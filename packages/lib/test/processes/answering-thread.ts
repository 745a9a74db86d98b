import { setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { AppError } from '@agent-server/lib/errors.ts'
import { notify, serveThread, transferring } from '@agent-server/lib/processes/thread.ts'

const methods = {
  /** Answers after so many milliseconds. */
  wait: (milliseconds: number) => setTimeout(milliseconds, milliseconds),
  give: (length: number) => {
    const bytes = new Uint8Array(length).fill(1)
    return transferring(bytes, [bytes.buffer])
  },
  size: (bytes: Uint8Array) => bytes.length,
  refuse: () => {
    throw new AppError('queue_full', 'Too many', { param: 'text', retryAfter: 3 })
  },
  fail: () => {
    throw new TypeError('broken')
  },
  tell: (message: string) => notify({ message, fields: { from: 'thread' } }),
  crash: () => {
    setImmediate(() => {
      throw new Error('crashed')
    })
    return setTimeout(60_000)
  },
}

export type AnsweringMethods = typeof methods

serveThread(methods, { overlapping: workerData === 'overlapping' })
