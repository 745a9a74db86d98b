import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { announcedBytes } from './announced-bytes.ts'
import { isStreamedBody } from './streamed-body.ts'

/** How many bodies of the largest size may be held in memory at the same time. */
const LARGEST_BODIES = 64
const RETRY_AFTER_SECONDS = 1

/**
 * Bounds the memory that all bodies take together: each alone may be as large as `bodyLimit`, and there may be
 * any number of connections. A body counts, as large as it is said to be, until its request is answered.
 */
export function installBodyBudget(app: FastifyInstance, bodyLimit: number): void {
  const most = LARGEST_BODIES * bodyLimit
  let held = 0

  // After authentication, so that strangers use up nothing.
  app.addHook('onRequest', async (request, { raw }) => {
    const bytes = Math.min(heldBytes(request), bodyLimit)
    if (bytes === 0) return
    if (held + bytes > most) {
      const message = 'Too much is being sent at once; try again shortly'
      throw new AppError('too_much_at_once', message, { retryAfter: RETRY_AFTER_SECONDS })
    }
    held += bytes
    raw.once('close', () => {
      held -= bytes
    })
  })
}

function heldBytes({ headers }: FastifyRequest): number {
  return isStreamedBody(headers) ? 0 : announcedBytes(headers)
}
