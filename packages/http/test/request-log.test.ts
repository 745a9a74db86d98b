import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { KEY, open, openApp } from './open-app.ts'
import { connectRaw, rawPost } from './raw-client.ts'

function routes(app: FastifyInstance): void {
  app.get('/known', { ...open, schema: { operationId: 'readKnown' } }, () => 'ok')
  app.get('/nameless', open, () => 'ok')
  app.post(
    '/never',
    { ...open, schema: { operationId: 'waitForEver' } },
    () => new Promise(() => undefined),
  )
  app.get('/quiet', { ...open, logLevel: 'warn' }, () => 'ok')
}

describe('an ended request', () => {
  it.each([
    ['its operation and status', '/known', 'readKnown', 200],
    ['a route without an operation as unknown', '/nameless', 'unknown', 200],
    ['an address without a route as unknown', '/nowhere/123', 'unknown', 404],
  ])('is told with %s', async (_case, path, operation, status) => {
    const { url, nextEnded } = await openApp(routes)
    const ended = nextEnded()
    await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${KEY}` } })).text()
    expect(await ended).toEqual({ operation, status, milliseconds: expect.any(Number) })
  })

  it('reports its duration in milliseconds', async () => {
    const { url, nextEnded } = await openApp((app) => {
      app.get('/slow', open, () => new Promise((resolve) => setTimeout(resolve, 30, 'ok')))
    })
    const ended = nextEnded()
    await fetch(`${url}/slow`)
    expect((await ended).milliseconds).toBeGreaterThan(25)
    expect((await ended).milliseconds).toBeLessThan(5_000)
  })

  it('is one log line with method, path and status, without the query string and any header', async () => {
    const { url, log, nextEnded } = await openApp(routes)
    const ended = nextEnded()
    await fetch(`${url}/known?token=my-secret`, { headers: { cookie: 'my-secret' } })
    await ended
    const lines = log.filter(({ reqId }) => reqId !== undefined)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ msg: 'readKnown', method: 'GET', path: '/known', status: 200 })
    expect(lines[0]).toMatchObject({ address: '127.0.0.1' })
    expect(JSON.stringify(log)).not.toContain('my-secret')
  })

  it.each([
    ['nobody', undefined, '203.0.113.7', '127.0.0.1'],
    ['one proxy', 1, '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['two proxies', 2, '198.51.100.1, 203.0.113.7, 192.0.2.1', '203.0.113.7'],
    ['more proxies than there are', 3, '203.0.113.7', '203.0.113.7'],
    ['addresses', ['127.0.0.1', '192.0.2.0/24'], '203.0.113.7, 192.0.2.1', '203.0.113.7'],
    ['the addresses of others', ['10.0.0.0/8'], '203.0.113.7', '127.0.0.1'],
  ])(
    'has the address of the caller, as far as %s is believed',
    async (_who, trustProxy, forwarded, address) => {
      const { url, log, nextEnded } = await openApp(routes, { trustProxy })
      const ended = nextEnded()
      await fetch(`${url}/known`, { headers: { 'x-forwarded-for': forwarded } })
      await ended
      expect(log.find(({ reqId }) => reqId !== undefined)).toMatchObject({ address })
    },
  )

  it('has the address of a caller from the public network, whatever headers claim', async () => {
    const { app, log } = await openApp(routes, { trustProxy: 1 })
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    await app.inject({ url: '/known', remoteAddress: '8.8.8.8', headers })
    expect(log.find(({ reqId }) => reqId !== undefined)).toMatchObject({ address: '8.8.8.8' })
  })

  it('is not logged on a quiet route, but is counted', async () => {
    const { url, log, nextEnded } = await openApp(routes)
    const ended = nextEnded()
    await fetch(`${url}/quiet`)
    expect((await ended).status).toBe(200)
    expect(log.filter(({ reqId }) => reqId !== undefined)).toEqual([])
  })

  it('is a 499 where the caller left before the answer', async () => {
    const { port, nextEnded, log } = await openApp(routes)
    const client = await connectRaw(port)
    const ended = nextEnded()
    client.send(rawPost('/never'))
    setImmediate(client.leave)
    expect(await ended).toMatchObject({ operation: 'waitForEver', status: 499 })
    expect(log.at(-1)).toMatchObject({ status: 499, path: '/never' })
  })
})
