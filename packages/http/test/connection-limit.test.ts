import { installConnectionLimit } from '@agent-server/http/connection-limit.ts'
import { expect, it } from 'vitest'
import { KEY, open, openApp } from './open-app.ts'
import { connectRaw } from './raw-client.ts'

const MOST = 20
const get = (path: string, key?: string) =>
  `GET ${path} HTTP/1.1\r\nhost: test\r\n${key ? `authorization: Bearer ${key}\r\n` : ''}\r\n`
const slowPost = (key: string) =>
  `POST /slow HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n{`

it('a body that nobody reads is answered with `Connection: close`, and gone within seconds', async () => {
  const { port } = await openApp((app) => app.post('/slow', async () => 'read'))
  const client = await connectRaw(port)
  client.send(slowPost('wrong'))
  expect(await client.until(/"request_id"/)).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i)
  // Still sending, and not cut off in the middle of it.
  client.send(' '.repeat(1_000))
  const started = performance.now()
  const trickle = setInterval(() => client.send(' '), 100)
  await client.closed
  clearInterval(trickle)
  expect(performance.now() - started).toBeLessThan(10_000)
})

it('anonymous connections give way to new ones, and never displace those with a key', async () => {
  const { port } = await openApp((app) => {
    installConnectionLimit(app, MOST)
    app.get('/health', open, async () => 'well')
    app.get('/mine', async () => 'yours')
  })
  const known = await connectRaw(port)
  known.send(get('/mine', KEY))
  await known.until(/yours/)
  const strangers = await Promise.all(Array.from({ length: MOST * 3 }, () => connectRaw(port)))
  await strangers[0]?.closed
  const check = await connectRaw(port)
  check.send(get('/health'))
  expect(await check.until(/well/)).toMatch(/^HTTP\/1\.1 200 /)
  known.send(get('/mine', KEY))
  expect(await known.until(/yours[\s\S]*yours/)).toMatch(/200 OK/)
})

it('at the limit, callers with a key get an error, and public checks are still answered', async () => {
  const { port } = await openApp((app) => {
    installConnectionLimit(app, MOST)
    app.get('/health', open, async () => 'well')
    app.get('/mine', async () => 'yours')
  })
  for (let taken = 0; taken < MOST * 0.9; taken += 1) {
    const client = await connectRaw(port)
    client.send(get('/mine', KEY))
    await client.until(/yours/)
  }
  const late = await connectRaw(port)
  late.send(get('/mine', KEY))
  expect(await late.closed).toMatch(/^HTTP\/1\.1 429 [\s\S]*too_many_requests/)
  const check = await connectRaw(port)
  check.send(get('/health'))
  expect(await check.until(/well/)).toMatch(/^HTTP\/1\.1 200 /)
})
