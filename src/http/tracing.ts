import type { FastifyInstance, FastifyRequest } from 'fastify'
import { startRequestSpan } from '../lib/tracing.ts'
import { statusOf } from './request-log.ts'

/** A span for each request that has shown a key, within the trace that its headers name; the log names the trace. */
export function installTracing(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, ReturnType<typeof startRequestSpan>>()

  app.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions, headers, ip, protocol } = request
    if (routeOptions.config.public) return done()
    const { url: route = 'unknown' } = routeOptions
    const attributes = {
      ...{ 'http.request.method': method, 'http.route': route, 'url.scheme': protocol },
      'client.address': ip,
    }
    const span = startRequestSpan(`${method} ${route}`, attributes, headers)
    spans.set(request, span)
    request.log = request.log.child({ traceId: span.traceId })
    reply.raw.once('close', () => span.end(statusOf(reply)))
    return span.run(done)
  })
  // A body arrives in the events of its socket, which know of no request.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request)
    if (span) span.run(done)
    else done()
  })
}
