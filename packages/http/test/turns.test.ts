import { installAnswerBudget, installTurns } from '@agent-server/http/turns.ts'
import { SCOPES } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { KEY, openApp } from './open-app.ts'
import { connectRaw } from './raw-client.ts'

const MANY = 64
const LONG_MS = 60_000

/** Each header `owner` is another key. */
function ownersByHeader(app: FastifyInstance) {
  app.addHook('onRequest', async (request) => {
    const id = String(request.headers.owner)
    request.caller = { key: { id, name: id }, scopes: SCOPES, verify: async () => undefined }
  })
}

const asking = (url: string) => (path: string, owner: string) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${KEY}`, owner } })

it('a request waits for a few of another key, however many there are', async () => {
  const leaving = Promise.withResolvers<void>()
  const begun: unknown[] = []
  const { url } = await openApp((app) => {
    ownersByHeader(app)
    installTurns(app, LONG_MS)
    app.get('/work', async ({ headers }) => {
      begun.push(headers.owner)
      return headers.owner === 'greedy' ? leaving.promise.then(() => 'done') : 'done'
    })
  })
  onTestFinished(() => leaving.resolve())
  const ask = asking(url)
  const greedy = Array.from({ length: MANY }, () => ask('/work', 'greedy'))
  await expect.poll(() => begun.length).toBe(8)
  expect(await (await ask('/work', 'modest')).text()).toBe('done')
  expect(begun).toHaveLength(9)
  leaving.resolve()
  await Promise.all(greedy)
  expect(begun).toHaveLength(MANY + 1)
})

it('of one connection that sends thousands of requests at once, most are refused', async () => {
  const leaving = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<string>()
  const { port } = await openApp((app) => {
    ownersByHeader(app)
    installTurns(app, LONG_MS)
    app.get('/wait', async () => leaving.promise.then(() => 'gone'))
    app.addHook('onError', async (_request, _reply, error) => refused.resolve(error.message))
  })
  onTestFinished(() => leaving.resolve())
  const client = await connectRaw(port)
  const request = `GET /wait HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${KEY}\r\nowner: key\r\n\r\n`
  client.send(request.repeat(2_000))
  expect(await refused.promise).toMatch(/^Too many requests wait/)
  client.leave()
})

it('answers behind one of a connection that has ended are no longer counted', async () => {
  const answered: string[] = []
  const { url, port } = await openApp((app) => {
    ownersByHeader(app)
    installAnswerBudget(app, 2 ** 20)
    app.get('/never', () => new Promise(() => undefined))
    app.get('/long', async () => 'a'.repeat(2 ** 18))
    app.addHook('onSend', async ({ url: path }) => void answered.push(path))
  })
  const head = `host: test\r\nauthorization: Bearer ${KEY}\r\nowner: key\r\n\r\n`
  const client = await connectRaw(port)
  const long = `GET /long HTTP/1.1\r\n${head}`
  client.send(`GET /never HTTP/1.1\r\n${head}${long.repeat(2)}`)
  await expect.poll(() => answered).toEqual(['/long', '/long'])
  const ask = asking(url)
  expect((await ask('/long', 'key')).status).toBe(429)
  client.leave()
  await expect.poll(async () => (await ask('/long', 'key')).status).toBe(200)
})

it('what waits for something else gives its turn away, and what is said to take long needs none', async () => {
  const leaving = Promise.withResolvers<void>()
  const { url } = await openApp((app) => {
    ownersByHeader(app)
    installTurns(app, 100)
    app.get('/wait', async () => leaving.promise.then(() => 'gone'))
    app.get('/chat', { config: { takesLong: true } }, async () => 'chat')
    app.get('/short', async () => 'short')
  })
  onTestFinished(() => leaving.resolve())
  const ask = asking(url)
  const waiting = Array.from({ length: MANY / 4 }, () => ask('/wait', 'key'))
  expect(await (await ask('/chat', 'key')).text()).toBe('chat')
  expect(await (await ask('/short', 'key')).text()).toBe('short')
  leaving.resolve()
  expect(await Promise.all(waiting)).toHaveLength(MANY / 4)
})

it('a caller who leaves while it waits gives its place up', async () => {
  const leaving = Promise.withResolvers<void>()
  let begun = 0
  const { url, port, nextEnded } = await openApp((app) => {
    ownersByHeader(app)
    installTurns(app, LONG_MS)
    app.get('/wait', async () => {
      begun += 1
      return leaving.promise.then(() => 'gone')
    })
  })
  onTestFinished(() => leaving.resolve())
  const ask = asking(url)
  const held = Array.from({ length: 8 }, () => ask('/wait', 'key'))
  await expect.poll(() => begun).toBe(8)
  const client = await connectRaw(port)
  client.send(
    `GET /wait HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${KEY}\r\nowner: key\r\n\r\n`,
  )
  const left = nextEnded()
  client.leave()
  await left
  leaving.resolve()
  await Promise.all(held)
  expect(await (await ask('/wait', 'key')).text()).toBe('gone')
  expect(begun).toBe(9)
})

it('answers that one key does not read are bounded together, and leave room for others', async () => {
  const LENGTH = 2 ** 23
  const { url, port } = await openApp((app) => {
    ownersByHeader(app)
    installAnswerBudget(app, LENGTH * 32)
    app.get('/long', async () => 'a'.repeat(LENGTH))
  })
  const request = `GET /long HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${KEY}\r\nowner: greedy\r\n\r\n`
  for (let count = 0; count < 15; count += 1) {
    const client = await connectRaw(port)
    client.send(request)
    await client.until(/HTTP/)
    client.pause()
  }
  const ask = asking(url)
  const refused = await ask('/long', 'greedy')
  expect([refused.status, await refused.text()]).toEqual([
    429,
    expect.stringContaining('too_many_requests'),
  ])
  expect((await (await ask('/long', 'modest')).text()).length).toBe(LENGTH)
})
