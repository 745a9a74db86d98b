import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { installBodyDeadline } from '../../src/http/request-body.ts'
import { ERROR_LEVEL, open, openApp } from './open-app.ts'
import { connectRaw } from './raw-client.ts'

const MILLISECONDS = 200

function routes(app: FastifyInstance): void {
  installBodyDeadline(app, MILLISECONDS)
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload))
  app.post('/whole', open, ({ body }) => ({ body }))
  app.post('/slow', open, async ({ body }) => {
    await pause(MILLISECONDS * 3)
    return { body }
  })
  app.post('/streamed', open, async ({ body }) => {
    let bytes = 0
    for await (const part of body as AsyncIterable<Uint8Array>) bytes += part.length
    return { bytes }
  })
  app.get('/late', open, async () => {
    await pause(MILLISECONDS * 3)
    return 'late'
  })
}

function headOf(path: string, type: string, length: string): string {
  const head = [`POST ${path} HTTP/1.1`, 'host: test', `content-type: ${type}`, length]
  return `${head.join('\r\n')}\r\n\r\n`
}

describe('A body that is read whole', () => {
  it.each(['content-length: 10', 'transfer-encoding: chunked'])(
    'is refused with 408 where it does not arrive in time, and the connection is closed (%s)',
    async (length) => {
      const { port, log } = await openApp(routes)
      const client = await connectRaw(port)
      client.send(headOf('/whole', 'application/json', length))
      const answer = await client.closed
      expect(answer).toMatch(/^HTTP\/1\.1 408 /)
      expect(answer).toMatch(/connection: close/i)
      expect(answer).toContain('"code":"request_timeout"')
      expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
    },
  )

  it('has the time for itself: what the handler takes does not count', async () => {
    const { url } = await openApp(routes)
    const response = await fetch(`${url}/slow`, {
      ...{ method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } },
    })
    expect([response.status, await response.json()]).toEqual([200, { body: { a: 1 } }])
  })

  it('is not waited for where there is none', async () => {
    const { url } = await openApp(routes)
    expect(await (await fetch(`${url}/late`)).text()).toBe('late')
  })
})

describe('A body that is read piece by piece', () => {
  it('may take longer', async () => {
    const { port } = await openApp(routes)
    const client = await connectRaw(port)
    client.send(headOf('/streamed', 'multipart/form-data; boundary=x', 'content-length: 6'))
    for (const part of ['ab', 'cd', 'ef']) {
      await pause(MILLISECONDS)
      client.send(part)
    }
    await client.until(/"bytes":6/)
  })
})
