import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import {
  contentTypeOf,
  installBodyBudget,
  installBodyDeadline,
  isStreamedBody,
  watchArrival,
} from '@agent-server/http/request-body.ts'
import { CallerLeft } from '@agent-server/http/shutdown.ts'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ERROR_LEVEL, envelope, KEY, open, openApp } from './open-app.ts'
import { connectRaw } from './raw-client.ts'

const LIMIT = 1_000

/** A route that holds its body until it is let go. */
async function openHolding() {
  const gate = Promise.withResolvers<void>()
  const { url } = await openApp((app: FastifyInstance) => {
    installBodyBudget(app, LIMIT)
    app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => {
      payload.resume().once('end', () => done(null))
    })
    app.post('/hold', async () => {
      await gate.promise
      return 'held'
    })
    app.post('/pass', () => 'passed')
  })
  const post = (path: string, bytes: number, type = 'application/json') =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': type, authorization: `Bearer ${KEY}` },
      body: JSON.stringify('x'.repeat(bytes - 2)),
    })
  return { post, letGo: gate.resolve }
}

describe('The bodies of all requests together', () => {
  it('may be as large as 64 of the largest, and one more is refused until one has gone', async () => {
    const { post, letGo } = await openHolding()
    const held = Array.from({ length: 63 }, () => post('/hold', LIMIT))
    held.push(post('/hold', LIMIT - 10))
    await expect.poll(async () => (await post('/pass', 11)).status).toBe(429)
    const refused = await post('/pass', 11)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toEqual(
      envelope('too_many_requests', expect.stringContaining('at once')),
    )
    expect((await post('/pass', 10)).status).toBe(200)
    letGo()
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(64).fill(200))
    await expect.poll(async () => (await post('/pass', LIMIT)).status).toBe(200)
  })

  it('leave out what is read piece by piece', async () => {
    const { post } = await openHolding()
    const sent = Array.from({ length: 80 }, () => post('/pass', LIMIT, 'application/x-ndjson'))
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(80).fill(200))
  })

  it('leave out those of callers who hang up while their key is looked up', async () => {
    const leave = new AbortController()
    let waiting = 0
    let left = 0
    const { url } = await openApp((app) => {
      app.addHook('onRequest', async ({ url: path }, { raw }) => {
        if (path !== '/leave') return
        waiting++
        await once(raw, 'close')
        left++
      })
      installBodyBudget(app, LIMIT)
      app.post('/leave', open, () => 'passed')
      app.post('/pass', open, () => 'passed')
    })
    const body = JSON.stringify('x'.repeat(LIMIT - 2))
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const leaving = Array.from({ length: 64 }, () =>
      fetch(`${url}/leave`, { ...init, signal: leave.signal }).catch(() => undefined),
    )
    await expect.poll(() => waiting).toBe(64)
    leave.abort()
    await Promise.all(leaving)
    await expect.poll(() => left).toBe(64)
    expect((await fetch(`${url}/pass`, init)).status).toBe(200)
  })
})

describe('A body that no handler reads', () => {
  const GET = 'GET /late HTTP/1.1\r\nhost: test\r\ncontent-length: 900000\r\n\r\n'
  const openLate = () =>
    openApp((app) => {
      installBodyDeadline(app, 60_000)
      installBodyBudget(app, 10_000_000)
      app.get('/late', open, async () => {
        await pause(MILLISECONDS)
        return 'late'
      })
    })

  it.each(['a part of it', 'no byte'])(
    'ends no process when its sender hangs up after %s',
    async (sent) => {
      const { port, url } = await openLate()
      const client = await connectRaw(port)
      client.send(GET + (sent === 'no byte' ? '' : 'x'.repeat(70_000)))
      await pause(MILLISECONDS / 2)
      client.leave()
      // An error that nobody hears would fail the run.
      await pause(MILLISECONDS * 2)
      expect(await (await fetch(`${url}/late`)).text()).toBe('late')
    },
  )

  it('does not hold up the next request of its connection', async () => {
    const { port } = await openLate()
    const client = await connectRaw(port)
    client.send(GET + 'x'.repeat(900_000))
    client.send('GET /late HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n')
    expect((await client.closed).match(/HTTP\/1\.1 200 /g)).toHaveLength(2)
  })
})

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

  it.each([
    ['content-length: 10', '1'],
    ['content-length: 90000', ' '],
    ['transfer-encoding: chunked', '1\r\n1\r\n'],
  ])('is refused after a grace period unless it keeps coming (%s)', async (length, byte) => {
    const { port } = await openApp((app) => {
      installBodyDeadline(app, 60_000, MILLISECONDS)
      app.post('/whole', open, ({ body }) => ({ body }))
    })
    const client = await connectRaw(port)
    client.send(headOf('/whole', 'application/json', length))
    client.send(byte)
    expect(await client.closed).toMatch(/^HTTP\/1\.1 408 [\s\S]*"request_timeout"/)
  })

  it('that was refused ends no process when its time is over', async () => {
    const { port } = await openApp((app) => {
      installBodyDeadline(app, MILLISECONDS, MILLISECONDS)
      app.post('/whole', { ...open, bodyLimit: 10 }, ({ body }) => ({ body }))
    })
    const client = await connectRaw(port)
    client.send(headOf('/whole', 'application/json', 'transfer-encoding: chunked'))
    client.send(`14\r\n${' '.repeat(20)}\r\n`)
    // An error that nobody hears would fail the run.
    await pause(MILLISECONDS * 3)
    expect(await client.closed).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('may come slowly, but steadily', async () => {
    const { port } = await openApp((app) => {
      installBodyDeadline(app, 60_000, MILLISECONDS)
      app.post('/whole', open, ({ body }) => ({ body }))
    })
    const client = await connectRaw(port)
    const piece = ' '.repeat(1_000)
    client.send(headOf('/whole', 'application/json', `content-length: ${10 * piece.length + 1}`))
    for (let i = 0; i < 10; i += 1) {
      client.send(piece)
      await pause(MILLISECONDS / 2)
    }
    client.send('1')
    expect(await client.until(/"body":1/)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('has its own deadline, which excludes the handler’s time', async () => {
    const { url } = await openApp(routes)
    const response = await fetch(`${url}/slow`, {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    })
    expect([response.status, await response.json()]).toEqual([200, { body: { a: 1 } }])
  })

  it('is not awaited if the request has none', async () => {
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

/** In milliseconds. */
const SILENCE = 100
/** Bytes in that time at a kilobyte a second. */
const LEAST = 100

function watched({ flowing }: { flowing: boolean }) {
  const message = new IncomingMessage(new Socket())
  const failed = Promise.withResolvers<Error>()
  const failures: Error[] = []
  const end = watchArrival(
    message,
    (error) => {
      failures.push(error)
      failed.resolve(error)
    },
    SILENCE,
  )
  onTestFinished(end)
  if (flowing) message.resume()
  return { message, failures, failed: failed.promise, end }
}

describe('A request that is arriving', () => {
  it('is aborted if no bytes arrive for too long', async () => {
    const { failed } = watched({ flowing: true })
    expect(await failed).toMatchObject({ code: 'request_timeout' })
  })

  it.each([
    ['is not aborted while bytes arrive at the least rate', LEAST, 0],
    ['is aborted if they arrive more slowly', LEAST - 1, 1],
  ])('%s', async (_what, bytes, count) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { message, failures, end } = watched({ flowing: true })
    for (let i = 0; i < 6 && failures.length === 0; i++) {
      message.push('x'.repeat(bytes))
      await vi.advanceTimersByTimeAsync(SILENCE)
    }
    end()
    expect(failures).toHaveLength(count)
  })

  it('is not aborted because its reader is slow', async () => {
    const { message, failures } = watched({ flowing: false })
    message.pause()
    await pause(SILENCE * 1.5)
    expect(failures).toEqual([])
  })

  it('fails when its sender hangs up', async () => {
    const { message, failed } = watched({ flowing: true })
    message.destroy()
    expect(await failed).toBeInstanceOf(CallerLeft)
  })

  it('is whole, and then may be closed', async () => {
    const { message, failures } = watched({ flowing: true })
    message.complete = true
    message.destroy()
    await pause(SILENCE / 2)
    expect(failures).toEqual([])
  })

  it('is watched no longer than wanted', async () => {
    const { message, failures, end } = watched({ flowing: true })
    end()
    message.destroy()
    await pause(SILENCE * 1.5)
    expect(failures).toEqual([])
  })
})

it.each([
  ['multipart/form-data; boundary=b', 'multipart/form-data', true],
  ['Multipart/Form-Data ;boundary=b', 'multipart/form-data', true],
  ['application/x-ndjson', 'application/x-ndjson', true],
  ['application/x-ndjson-too', 'application/x-ndjson-too', false],
  ['application/json', 'application/json', false],
  [undefined, '', false],
])('The media type of a body said to be %s is %s', (header, type, isStreamed) => {
  const headers = header === undefined ? {} : { 'content-type': header }
  expect(contentTypeOf(headers)).toBe(type)
  expect(isStreamedBody(headers)).toBe(isStreamed)
})
