import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import { ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ownerOf } from './owner-of.ts'
import { CallerLeft } from './shutdown.ts'

export const MULTIPART_FORM = 'multipart/form-data'
export const NDJSON = 'application/x-ndjson'

/** The media type of a request body, without parameters; empty if none is given. */
export function contentTypeOf({ 'content-type': type = '' }: IncomingHttpHeaders): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** How many bodies of the largest size may be in memory at the same time. */
const MAX_LARGE_BODIES = 64
const RETRY_AFTER_SECONDS = 1

/**
 * Limits the memory of all bodies together: each alone may be as large as `bodyLimit`, and there may be any number
 * of connections. Of a large body counts what has arrived, of a small one what is declared, until the request is
 * answered; of all, each key may have its share. Throws `too_many_requests`.
 */
export function installBodyBudget(app: FastifyInstance, bodyLimit: number): void {
  const bytes = createLimiter({
    name: 'bytes of request bodies',
    capacity: MAX_LARGE_BODIES * bodyLimit,
  })
  // After authentication, so that requests without a key use up nothing.
  app.addHook('onRequest', async (request, { raw }) => {
    const { headers } = request
    // The caller hung up during the lookup of its key: no `close` would follow to release
    // the bytes.
    if (raw.destroyed || isStreamedBody(headers) || declaredBytes(headers) > LARGE_BYTES) return
    const release = bytes.take(ownerOf(request), declaredBytes(headers))
    if (!release) throw tooManyRequests()
    raw.once('close', release)
  })
  app.addHook('preParsing', async (request, { raw }, payload) => {
    const { headers } = request
    if (raw.destroyed || isStreamedBody(headers) || declaredBytes(headers) <= LARGE_BYTES) return
    const releases: (() => void)[] = []
    raw.once('close', () => {
      for (const release of releases.splice(0)) release()
      // What nobody has read would hold up the next request of the connection.
      counted.resume()
    })
    const counted = new Transform({
      transform(piece: Buffer, _encoding, done) {
        // Nothing would release the place of a request that is already answered.
        if (raw.destroyed) return done()
        const release = bytes.take(ownerOf(request), piece.length)
        if (!release) return done(tooManyRequests())
        releases.push(release)
        done(null, piece)
      },
    })
    // Where nobody reads the body, as of a GET, an error without a listener would end the process.
    counted.on('error', () => undefined)
    payload.once('error', (error: Error) => counted.destroy(error))
    return payload.pipe(counted)
  })
}

const tooManyRequests = () =>
  new AppError('too_many_requests', 'Too much data is being sent at once; try again shortly', {
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** In bytes. A smaller body arrives with its headers, so checking first would save nothing. */
const LARGE_BYTES = 65_536

const PossibleId = z.object({ id: z.string().optional() })

/** A hook that refuses a large document before it is read if the queue is full. */
export function admit(ask: (id: string | undefined, key: string | undefined) => Promise<void>) {
  return async ({ headers, params, caller }: FastifyRequest): Promise<void> => {
    if (declaredBytes(headers) < LARGE_BYTES) return
    const { id } = PossibleId.parse(params ?? {})
    const key = headers['idempotency-key']
    // A limited key must not learn whether another caller's document is queued or was sent before.
    if (ownerIdOf(caller) !== undefined) await ask(undefined, undefined)
    else await ask(id, typeof key === 'string' ? key : undefined)
  }
}

/** From the request headers to the last byte of the body. */
const BODY_MS = 120_000
/** After this long, and then as often, a body must have come at the least rate. */
const GRACE_MS = 10_000
/** In bytes a second. */
const LEAST_RATE = 1_000

/**
 * Gives a body that is read whole two minutes to arrive, and after a grace period only if it keeps coming. Node's own
 * request timeout cannot tell these from uploads, which may take as long as they make progress.
 */
export function installBodyDeadline(
  app: FastifyInstance,
  milliseconds = BODY_MS,
  graceMs = GRACE_MS,
): void {
  app.addHook('preParsing', async ({ headers, raw: { socket } }, reply, payload) => {
    // The caller hung up during the lookup of its key: no `close` would follow to end the timers.
    if (reply.raw.destroyed || isStreamedBody(headers) || declaredBytes(headers) === 0) return
    const began = performance.now()
    const before = socket.bytesRead
    // Where the reader has given up, an error without a listener would end the process.
    payload.on('error', () => undefined)
    const fail = () => {
      if (reply.sent) return
      // Otherwise the rest of the body would be taken for the next request.
      reply.header('connection', 'close')
      payload.emit('error', new AppError('request_timeout', 'The request did not arrive in time'))
    }
    const checkRate = () => {
      const seconds = (performance.now() - began) / 1_000
      if (socket.bytesRead - before < LEAST_RATE * seconds) fail()
    }
    const timer = setTimeout(fail, milliseconds)
    const rateTimer = setInterval(checkRate, graceMs)
    const disarm = () => {
      clearTimeout(timer)
      clearInterval(rateTimer)
    }
    payload.once('end', disarm).once('close', disarm)
    // A body that is counted on its way is not closed with its request.
    reply.raw.once('close', disarm)
  })
}

/** Whether a body is read as a stream, never held whole, and so has limits of its own. */
export function isStreamedBody(headers: IncomingHttpHeaders): boolean {
  return [MULTIPART_FORM, NDJSON].includes(contentTypeOf(headers))
}

/**
 * Asks a client that sends `Expect: 100-continue` for its body only once nothing but the body itself can lead to a
 * refusal. If it is refused before that, the connection is closed, since the client may send the body all the same.
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

/** How long a caller that is still sending gets to read the refusal. */
const LINGER_MS = 2_000

/**
 * Closes the connection after an error response that leaves a body unread, as the body could arrive arbitrarily
 * slowly. Not at once: a caller still sending would be cut off before it has read why.
 */
export function leaveUnreadBodies(app: FastifyInstance): void {
  app.addHook('onSend', async ({ raw, headers }, reply) => {
    if (reply.statusCode < 400 || raw.complete || declaredBytes(headers) === 0) return
    reply.header('connection', 'close')
    const { socket } = raw
    // Node calls this when the response is written; its own version would discard what is
    // still unsent.
    socket.destroySoon = () => {
      socket.end()
      setTimeout(() => socket.destroy(), LINGER_MS)
    }
  })
}

/** After this long, and then as often, a form must have come at the least rate. */
const IDLE_MS = 60_000

/**
 * Calls `fail` if the sender hangs up, falls silent or sends too slowly before the request is complete. That counts only
 * while the reader is reading: a paused reader is not the sender's fault. Returns a function that ends the watch.
 */
export function watchArrival(
  request: IncomingMessage,
  fail: (error: Error) => void,
  idleMs = IDLE_MS,
): () => void {
  let bytes = 0
  let wasPaused = false
  const timer = setInterval(() => {
    const isSlow = bytes * 1_000 < LEAST_RATE * idleMs
    if (isSlow && request.readableFlowing && !wasPaused && !request.complete) {
      fail(new AppError('request_timeout', 'The rest of the request did not arrive in time'))
    }
    bytes = 0
    wasPaused = !request.readableFlowing
  }, idleMs)
  const arrived = (piece: Buffer) => {
    bytes += piece.length
  }
  const paused = () => {
    wasPaused = true
  }
  const closed = () => {
    if (!request.complete) fail(new CallerLeft())
  }
  request.on('data', arrived)
  request.on('pause', paused)
  request.on('close', closed)
  return () => {
    clearInterval(timer)
    request.off('data', arrived)
    request.off('pause', paused)
    request.off('close', closed)
  }
}

/** The declared length of a request body, in bytes; infinite if it is not declared. */
export function declaredBytes(headers: IncomingHttpHeaders): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY
  return Number(headers['content-length'] ?? 0)
}
