import { AppError } from '@agent-server/lib/errors.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when calls in flight must end because the server stops. */
    stopping: AbortSignal
  }
}

const SWEEP_MS = 100
/** From the end of the grace period until sockets are destroyed: enough to write an error frame. */
const LINGER_MS = 500
const RETRY_AFTER_SECONDS = 5

/**
 * Makes `app.close()` end in bounded time even with open streams: they may finish within the grace period; then
 * `app.stopping` aborts, which ends them with an error frame; then remaining sockets are destroyed.
 */
export function installShutdown(app: FastifyInstance, graceMs: number): void {
  const stopping = new AbortController()
  let open = 0
  let closing = false
  app.decorate('stopping', stopping.signal)

  app.addHook('onRequest', async (_request, reply) => {
    open += 1
    reply.raw.once('close', () => {
      open -= 1
    })
    if (closing) throw shuttingDown()
  })
  app.addHook('preClose', async () => {
    closing = true
    // Node counts a socket that never sent a request as busy, and one whose stream ended late as idle
    // only after the first sweep; both would delay the close.
    const sweep = setInterval(() => {
      if (open === 0) app.server.closeAllConnections()
      else app.server.closeIdleConnections()
    }, SWEEP_MS)
    const graceEnd = setTimeout(() => {
      stopping.abort(shuttingDown())
      setTimeout(() => app.server.closeAllConnections(), LINGER_MS).unref()
    }, graceMs)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(graceEnd)
    })
  })
}

function shuttingDown(): AppError {
  return new AppError('shutting_down', 'The server is shutting down', {
    retryAfter: RETRY_AFTER_SECONDS,
  })
}

/** The abort reason of a call's signal when its caller has hung up: nobody is left to answer. */
export class CallerLeft extends Error {
  override readonly name = 'CallerLeft'

  constructor() {
    super('The client disconnected before the response was complete')
  }
}

/**
 * A signal that aborts when the caller hangs up or the server stops, never because of a completed answer. Fastify's
 * own `request.signal` will not do: Node closes an incoming message once its body is read, which aborts it.
 */
export function callSignal(reply: FastifyReply, stopping = reply.server.stopping): AbortSignal {
  const call = new AbortController()
  const leave = () => call.abort(new CallerLeft())
  // Not `AbortSignal.any`, which keeps every call alive as long as `stopping` lives.
  const stop = () => call.abort(stopping.reason)
  stopping.addEventListener('abort', stop)
  reply.raw.once('close', () => {
    stopping.removeEventListener('abort', stop)
    if (!reply.raw.writableFinished) leave()
  })
  if (stopping.aborted) stop()
  if (reply.raw.destroyed) leave()
  return call.signal
}
