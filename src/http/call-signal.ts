import type { FastifyReply } from 'fastify'

/** What a call's signal is aborted with when its caller has hung up: nobody is left to be told. */
export class CallerLeft extends Error {
  override readonly name = 'CallerLeft'

  constructor() {
    super('The caller hung up before the answer was complete')
  }
}

/**
 * Aborts when the caller hangs up or the server stops; a completed answer never trips it. Fastify's own
 * `request.signal` will not do: Node closes an incoming message once its body is read, and that aborts it.
 */
export function callSignal(reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const call = new AbortController()
  const leave = () => call.abort(new CallerLeft())
  // Not `AbortSignal.any`: it keeps every call alive for as long as `stopping` lives.
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
