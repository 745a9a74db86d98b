import { startRequestSpan } from '@agent-server/lib/tracing.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface EndedRequest {
  /** The route's `operationId`; `unknown` if no route matches. */
  operation: string
  /** The HTTP status, or what `statusOf` replaces it by. */
  status: number
  milliseconds: number
}

/** Listeners for the end of a response: this log, traces, shutdown, the stream and whatever works for it. */
const MAX_LISTENERS = 20

/** As in nginx's logs; no client ever sees it. */
const CALLER_LEFT = 499

/**
 * Logs one line per request, once its last byte is sent or its caller has left; without query string, headers or body.
 */
export function installRequestLog(
  app: FastifyInstance,
  ended: (request: EndedRequest) => void,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    // Read now: the address is unknown once the connection is closed.
    const { ip: address } = request
    reply.raw.setMaxListeners(MAX_LISTENERS)
    // Not Fastify's `onResponse`, which never comes for a caller who hangs up.
    reply.raw.once('close', () => {
      const { method, originalUrl, routeOptions, caller } = request
      const key = caller?.key && `${caller.key.name} (${caller.key.id})`
      const person = caller?.person?.id
      const operation = routeOptions.schema?.operationId ?? 'unknown'
      const milliseconds = Math.round(reply.elapsedTime * 10) / 10
      const status = statusOf(reply)
      ended({ operation, status, milliseconds })
      const [path] = originalUrl.split('?')
      request.log.info({ address, method, path, status, milliseconds, key, person }, operation)
    })
  })
}

/**
 * The HTTP status; 499 if the caller hung up before the answer was complete; that of its error if a stream, which had
 * begun with 200, ended with one.
 */
function statusOf({ raw, statusCode, request }: FastifyReply): number {
  return raw.writableFinished ? (request.failureStatus ?? statusCode) : CALLER_LEFT
}

/**
 * Starts a span for each request to a route that is not public, within the trace that its headers name; the log
 * names the trace.
 */
export function installTracing(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, ReturnType<typeof startRequestSpan>>()

  app.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions, headers, ip, protocol } = request
    if (routeOptions.config.public || reply.raw.destroyed) return done()
    const { url: route = 'unknown' } = routeOptions
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'url.scheme': protocol,
      'client.address': ip,
    }
    const span = startRequestSpan(`${method} ${route}`, attributes, headers)
    spans.set(request, span)
    request.log = request.log.child({ traceId: span.traceId })
    reply.raw.once('close', () => span.end(statusOf(reply)))
    return span.run(done)
  })
  // A body arrives in events of its socket, which do not carry the request's span.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request)
    if (span) span.run(done)
    else done()
  })
}
