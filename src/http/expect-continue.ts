import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

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
