import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { CallerLeft, callSignal } from '../../src/http/shutdown.ts'
import { ERROR_LEVEL, open, openApp, settle } from './open-app.ts'
import { connectRaw, rawPost } from './raw-client.ts'

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

  it('lets go of the stop signal when the call is over', async () => {
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
