import Fastify from 'fastify'

/**
 * A Fastify server in a separate process that answers `/query` with objects it was given: no key, no schema, no search.
 * This is the lower bound of what `/query` can take over HTTP.
 */
let answers: unknown[] = []
let asked = 0

const app = Fastify()
app.post('/query', async () => answers[asked++ % answers.length])

process.on('message', (given: unknown[]) => {
  answers = given
  process.send?.({ ready: true })
})
process.on('disconnect', () => process.exit(0))

await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.(app.server.address())
