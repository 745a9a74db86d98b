import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'
import { announcedBytes } from './announced-bytes.ts'
import { isStreamedBody } from './streamed-body.ts'

/** From the head of a request to the last byte of its body. */
const BODY_MILLISECONDS = 120_000

/**
 * Gives a body that is read whole two minutes to arrive. Node's own limit for requests knows no difference
 * between these and uploads, which may take as long as they move.
 */
export function installBodyDeadline(app: FastifyInstance, milliseconds = BODY_MILLISECONDS): void {
  app.addHook('preParsing', async ({ headers }, reply, payload) => {
    if (isStreamedBody(headers) || announcedBytes(headers) === 0) return
    const timer = setTimeout(() => {
      // Whoever no longer listens has the body, or has given it up.
      if (payload.listenerCount('error') === 0) return
      // The rest of the body would be taken for the next request.
      reply.header('connection', 'close')
      payload.emit('error', new AppError('request_timeout', 'The request did not arrive in time'))
    }, milliseconds)
    const disarm = () => clearTimeout(timer)
    payload.once('end', disarm).once('close', disarm)
  })
}
