import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'

import { CallerLeft } from './shutdown.ts'

export const MULTIPART_FORM = 'multipart/form-data'
export const NDJSON = 'application/x-ndjson'

/** What the body of a request is said to be, without parameters; empty where nothing is said. */
export function contentTypeOf({ 'content-type': type = '' }: IncomingHttpHeaders): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** How many bodies of the largest size may be held in memory at the same time. */
const MAX_LARGE_BODIES = 64
const RETRY_AFTER_SECONDS = 1

/**
 * Bounds the memory that all bodies take together: each alone may be as large as `bodyLimit`, and there may be
 * any number of connections. A body counts, as large as it is said to be, until its request is answered.
 */
export function installBodyBudget(app: FastifyInstance, bodyLimit: number): void {
  const maxBytes = MAX_LARGE_BODIES * bodyLimit
  let held = 0

  // After authentication, so that strangers use up nothing.
  app.addHook('onRequest', async ({ headers }, { raw }) => {
    // The caller hung up while its key was looked up: nothing would take the bytes off again.
    if (raw.destroyed) return
    const bytes = isStreamedBody(headers) ? 0 : Math.min(declaredBytes(headers), bodyLimit)
    if (held + bytes > maxBytes) {
      const message = 'Too much is being sent at once; try again shortly'
      throw new AppError('too_much_at_once', message, { retryAfter: RETRY_AFTER_SECONDS })
    }
    held += bytes
    raw.once('close', () => {
      held -= bytes
    })
  })
}

/** From the head of a request to the last byte of its body. */
const BODY_MS = 120_000

/**
 * Gives a body that is read whole two minutes to arrive. Node's own limit for requests knows no difference
 * between these and uploads, which may take as long as they move.
 */
export function installBodyDeadline(app: FastifyInstance, milliseconds = BODY_MS): void {
  app.addHook('preParsing', async ({ headers }, reply, payload) => {
    if (isStreamedBody(headers) || declaredBytes(headers) === 0) return
    const timer = setTimeout(() => {
      // Nobody listens any more: the body has arrived, or its reader has given up.
      if (payload.listenerCount('error') === 0) return
      // The rest of the body would be taken for the next request.
      reply.header('connection', 'close')
      payload.emit('error', new AppError('request_timeout', 'The request did not arrive in time'))
    }, milliseconds)
    const disarm = () => clearTimeout(timer)
    payload.once('end', disarm).once('close', disarm)
  })
}

/** Whether a body is read piece by piece and never held whole, and so has bounds of its own. */
export function isStreamedBody(headers: IncomingHttpHeaders): boolean {
  return [MULTIPART_FORM, NDJSON].includes(contentTypeOf(headers))
}

/**
 * Lets a client that asks first (`Expect: 100-continue`) send its body only once nothing but the body can
 * lead to a refusal. Where it is refused without, the connection is closed: nobody knows whether the body
 * comes all the same.
 */
export function installExpectContinue(app: FastifyInstance): void {
  const waiting = new WeakSet<IncomingMessage>()
  app.server.on('checkContinue', (request, response) => {
    waiting.add(request)
    app.server.emit('request', request, response)
  })
  app.addHook('preParsing', async ({ raw }, reply) => {
    if (waiting.delete(raw)) reply.raw.writeContinue()
  })
  app.addHook('onSend', async ({ raw }, reply) => {
    if (waiting.delete(raw)) reply.header('connection', 'close')
  })
}

/** How long a caller who is still sending gets to read the refusal. */
const LINGER_MS = 2_000

/**
 * Closes the connection after a refusal that leaves a body unread, which could come as slowly as it likes. Not at
 * once: a caller who is still sending would be cut off before it has read why.
 */
export function leaveUnreadBodies(app: FastifyInstance): void {
  app.addHook('onSend', async ({ raw, headers }, reply) => {
    if (reply.statusCode < 400 || raw.complete || declaredBytes(headers) === 0) return
    reply.header('connection', 'close')
    const { socket } = raw
    // Called by Node when the answer is written; its own would discard what is not sent yet.
    socket.destroySoon = () => {
      socket.end()
      setTimeout(() => socket.destroy(), LINGER_MS)
    }
  })
}

/** Without a byte for so long the sender is taken to be gone. */
const IDLE_MS = 60_000

/**
 * Calls `fail` once if the sender hangs up or falls silent before the request is whole. A reader that is slow
 * itself is not the sender's fault. Answers what ends the watch.
 */
export function watchArrival(
  request: IncomingMessage,
  fail: (error: Error) => void,
  idleMs = IDLE_MS,
): () => void {
  const timer = setTimeout(() => {
    if (request.readableFlowing) {
      fail(new AppError('request_timeout', 'The rest of the request did not arrive'))
    } else timer.refresh()
  }, idleMs)
  const arrived = () => timer.refresh()
  const closed = () => {
    if (!request.complete) fail(new CallerLeft())
  }
  request.on('data', arrived)
  request.on('close', closed)
  return () => {
    clearTimeout(timer)
    request.off('data', arrived)
    request.off('close', closed)
  }
}

/** How long the body of a request is said to be; infinite where it is not said. */
export function declaredBytes(headers: IncomingHttpHeaders): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY
  return Number(headers['content-length'] ?? 0)
}
