import { once } from 'node:events'
import { type FrameFormat, sendEvents } from '@agent-server/http/event-stream.ts'
import { CallerLeft, callSignal } from '@agent-server/http/shutdown.ts'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { inBatches } from '../../../test/support/batches.ts'
import { ERROR_LEVEL, envelope, type OpenApp, open, openApp, settle } from './open-app.ts'
import { connectRaw, type RawClient, rawPost } from './raw-client.ts'

const FORMAT: FrameFormat<string> = {
  encode: (event) => `data: ${event}\n\n`,
  encodeError: ({ error }) => `data: failed ${error.code} ${error.message}\n\n`,
  end: 'data: end\n\n',
}
const NEVER = 60_000
/** Far less than what a closing server would wait for otherwise. */
const BOUND_MS = 10_000

/** Streams one event, then a second one when `second` resolves; ends early with its signal. */
function streams(second: Promise<string>) {
  return (app: FastifyInstance, stopping: AbortSignal) => {
    app.post('/stream', open, (_request, reply) => {
      const signal = callSignal(reply, stopping)
      const events = (async function* () {
        yield 'one'
        const stopped = once(signal, 'abort').then(() => {
          throw signal.reason
        })
        yield await Promise.race([second, stopped])
      })()
      sendEvents(reply, inBatches(events), FORMAT)
    })
    app.get('/ping', open, () => 'pong')
  }
}

async function elapsed(work: Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work
  return performance.now() - started
}

describe('closing with an open stream', () => {
  it('waits for it to finish within the grace period', async () => {
    const second = Promise.withResolvers<string>()
    const { app, port } = await openApp(streams(second.promise), { graceMs: NEVER })
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/data: one/)
    const closed = app.close()
    await once(app.server, 'close', { signal: AbortSignal.timeout(150) }).catch(() => 'still open')
    expect(client.received()).not.toContain('failed')
    second.resolve('two')
    await closed
    expect(await client.closed).toMatch(/data: two.*data: end/s)
  })

  it('ends it with an error frame after the grace period', async () => {
    const { app, port, log } = await openApp(streams(new Promise(() => undefined)), {
      graceMs: 50,
    })
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/data: one/)
    await app.close()
    expect(await client.closed).toMatch(
      /data: failed shutting_down The server is shutting down\n\n\r\n0\r\n\r\n$/,
    )
    expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
  })

  it('cuts one that ignores its signal, in bounded time', async () => {
    const { app, port } = await openApp(
      (application) => {
        application.post('/stream', open, (_request, reply) => {
          const events = (async function* () {
            yield 'one'
            await new Promise(() => undefined)
          })()
          sendEvents(reply, inBatches(events), FORMAT)
        })
      },
      { graceMs: 20 },
    )
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/data: one/)
    expect(await elapsed(app.close())).toBeLessThan(BOUND_MS)
    await client.closed
  })

  it('cuts one whose reader has stopped reading, in bounded time', async () => {
    const { app, port } = await openApp(
      (application, stopping) => {
        application.post('/stream', open, (_request, reply) => {
          const signal = callSignal(reply, stopping)
          const events = (async function* () {
            while (!signal.aborted) yield 'x'.repeat(10_000)
            throw signal.reason
          })()
          sendEvents(reply, inBatches(events), FORMAT)
        })
      },
      { graceMs: 20 },
    )
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/x/)
    client.pause()
    expect(await elapsed(app.close())).toBeLessThan(BOUND_MS)
  })
})

describe('closing with a request that waits', () => {
  it('ends it with 503 after the grace period', async () => {
    const entered = Promise.withResolvers<void>()
    const { app, url } = await openApp(
      (application, stopping) => {
        application.get('/wait', open, async (_request, reply) => {
          const signal = callSignal(reply, stopping)
          entered.resolve()
          await once(signal, 'abort')
          throw signal.reason
        })
      },
      { graceMs: 20 },
    )
    const response = fetch(`${url}/wait`)
    await entered.promise
    await app.close()
    expect((await response).status).toBe(503)
    expect(await (await response).json()).toEqual(
      envelope('shutting_down', 'The server is shutting down'),
    )
  })
})

/** A client whose connection the server has accepted. */
async function connectAccepted({ app, port }: OpenApp): Promise<RawClient> {
  const accepted = once(app.server, 'connection')
  const client = await connectRaw(port)
  await accepted
  return client
}

describe('closing without an open request', () => {
  const openIdle = () => openApp(streams(new Promise(() => undefined)), { graceMs: NEVER })

  it.each([
    ['no connection', 0],
    ['a connection that never sent a request', 1],
    ['many of them', 20],
  ])('is not held back by %s', async (_case, count) => {
    const opened = await openIdle()
    for (let client = 0; client < count; client += 1) await connectAccepted(opened)
    expect(await elapsed(opened.app.close())).toBeLessThan(BOUND_MS)
  })

  it('is not held back by a connection that is kept alive', async () => {
    const opened = await openIdle()
    const client = await connectAccepted(opened)
    client.send('GET /ping HTTP/1.1\r\nhost: test\r\n\r\n')
    await client.until(/pong/)
    expect(await elapsed(opened.app.close())).toBeLessThan(BOUND_MS)
  })

  it('is not held back by half a request', async () => {
    const opened = await openIdle()
    const client = await connectAccepted(opened)
    client.send('GET /ping HTTP/1.1\r\nhost: test\r\n\r\nPOST /stream HTTP/1.1\r\nhost: te')
    await client.until(/pong/)
    expect(await elapsed(opened.app.close())).toBeLessThan(BOUND_MS)
  })

  it('leaves no timer behind', async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const { app } = await openIdle()
    const before = timers()
    await app.close()
    expect(timers()).toBeLessThanOrEqual(before)
  })
})

describe('a request that comes while the server closes', () => {
  it('is refused with 503, Retry-After and the envelope, and its connection is closed', async () => {
    const second = Promise.withResolvers<string>()
    const { app, port } = await openApp(streams(second.promise), { graceMs: NEVER })
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/data: one/)
    const closed = app.close()
    const received = once(app.server, 'request')
    client.send('GET /ping HTTP/1.1\r\nhost: test\r\n\r\n')
    await received
    second.resolve('two')
    const [, answer = ''] = (await client.closed).split('data: end\n\n\r\n0\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 503 /)
    expect(answer).toMatch(/^retry-after: \d+\r$/m)
    expect(answer).toMatch(/^connection: close\r$/im)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual(
      envelope('shutting_down', 'The server is shutting down'),
    )
    await closed
  })
})

interface Call {
  signal: AbortSignal
  answer: (text: string) => void
}

/** An app whose `/wait` hands out its signal and answers when it is told to. */
async function openWaiting() {
  const stopping = new AbortController()
  let entered = Promise.withResolvers<Call>()
  const opened = await openApp((app) => {
    app.post('/wait', open, (_request, reply) => {
      const signal = callSignal(reply, stopping.signal)
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      signal.addEventListener('abort', () => reject(signal.reason))
      entered.resolve({ signal, answer: resolve })
      return promise
    })
  })
  const nextCall = () => {
    entered = Promise.withResolvers<Call>()
    return entered.promise
  }
  return { ...opened, stopping, nextCall }
}

describe('the signal of a call', () => {
  it('aborts with CallerLeft when the caller hangs up', async () => {
    const { port, nextCall } = await openWaiting()
    const client = await connectRaw(port)
    const call = nextCall()
    client.send(rawPost('/wait'))
    const { signal } = await call
    client.leave()
    await once(signal, 'abort')
    expect(signal.reason).toBeInstanceOf(CallerLeft)
  })

  it.each([
    ['a small body', 2],
    ['a body of many packets', 90_000],
  ])('does not abort because %s has been read', async (_case, size) => {
    const { url, nextCall } = await openWaiting()
    const call = nextCall()
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify('x'.repeat(size))
    const response = fetch(`${url}/wait`, { method: 'POST', headers, body })
    const { signal, answer } = await call
    await settle()
    expect(signal.aborted).toBe(false)
    answer('ok')
    expect(await (await response).text()).toBe('ok')
  })

  it('does not abort when the answer is complete', async () => {
    const { url, nextCall, nextEnded } = await openWaiting()
    const call = nextCall()
    const ended = nextEnded()
    const response = fetch(`${url}/wait`, { method: 'POST' })
    const { signal, answer } = await call
    answer('ok')
    await (await response).text()
    await ended
    expect(signal.aborted).toBe(false)
  })

  it('aborts with the reason of the stop when the server stops', async () => {
    const { url, nextCall, stopping } = await openWaiting()
    const call = nextCall()
    const response = fetch(`${url}/wait`, { method: 'POST' })
    const { signal } = await call
    const reason = new Error('closing time')
    stopping.abort(reason)
    expect(signal.reason).toBe(reason)
    expect((await response).status).toBe(500)
  })

  it('is aborted from the start in a server that is stopping', async () => {
    const { url, nextCall, stopping } = await openWaiting()
    stopping.abort(new Error('closing time'))
    const call = nextCall()
    const response = fetch(`${url}/wait`, { method: 'POST' })
    expect((await call).signal.aborted).toBe(true)
    // A signal that is aborted already fires no event, so this call waits for its answer.
    ;(await call).answer('ok')
    await response
  })

  it('is aborted from the start for a caller who left before', async () => {
    let signal: AbortSignal | undefined
    const { port, nextEnded } = await openApp((app, stopping) => {
      app.post('/late', open, async (_request, reply) => {
        await once(reply.raw, 'close')
        signal = callSignal(reply, stopping)
      })
    })
    const client = await connectRaw(port)
    const ended = nextEnded()
    client.send(rawPost('/late'))
    setImmediate(client.leave)
    await ended
    await settle()
    expect(signal?.reason).toBeInstanceOf(CallerLeft)
  })

  it('leaves no error in the log when the caller hangs up', async () => {
    const { port, nextCall, nextEnded, log } = await openWaiting()
    const client = await connectRaw(port)
    const call = nextCall()
    const ended = nextEnded()
    client.send(rawPost('/wait'))
    await call
    client.leave()
    await ended
    await settle()
    expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
  })

  it('removes its listener from the stop signal when the call is over', async () => {
    const { url, nextCall, nextEnded, stopping } = await openWaiting()
    const call = nextCall()
    const ended = nextEnded()
    const response = fetch(`${url}/wait`, { method: 'POST' })
    const { signal, answer } = await call
    answer('ok')
    await (await response).text()
    await ended
    stopping.abort()
    expect(signal.aborted).toBe(false)
  })
})
