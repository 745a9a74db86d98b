import { once } from 'node:events'
import { type FrameFormat, type Silence, sendEvents } from '@agent-server/http/event-stream.ts'
import { CallerLeft, callSignal } from '@agent-server/http/shutdown.ts'
import { describe, expect, it } from 'vitest'
import { inBatches } from '../../../test/support/batches.ts'
import { ERROR_LEVEL, type OpenApp, open, openApp, settle } from './open-app.ts'
import { connectRaw, rawPost } from './raw-client.ts'

const FORMAT: FrameFormat<string> = {
  encode: (event) => `data: ${event}\n\n`,
  encodeError: ({ error }) => `data: failed ${error.code}\n\n`,
  end: 'data: end\n\n',
}

interface Watched extends OpenApp {
  /** Resolves when the generator's `finally` has run. */
  finished: Promise<void>
  produced: () => number
  signal: () => AbortSignal | undefined
}

type Produce = (signal: AbortSignal) => AsyncGenerator<string>

/** A stream of what `produce` yields that tells what has become of its generator. */
async function openWatched(produce: Produce, silence?: Silence): Promise<Watched> {
  const { promise: finished, resolve } = Promise.withResolvers<void>()
  let produced = 0
  let signal: AbortSignal | undefined
  async function* watched(callsSignal: AbortSignal) {
    signal = callsSignal
    try {
      for await (const event of produce(callsSignal)) {
        produced += 1
        yield event
      }
    } finally {
      resolve()
    }
  }
  const opened = await openApp((app, stopping) => {
    app.post('/stream', open, (_request, reply) => {
      sendEvents(reply, inBatches(watched(callSignal(reply, stopping))), FORMAT, silence)
    })
  })
  return { ...opened, finished, produced: () => produced, signal: () => signal }
}

async function* untilAborted(signal: AbortSignal): AsyncGenerator<string> {
  yield 'one'
  await once(signal, 'abort')
  throw signal.reason
}

async function* endless(): AsyncGenerator<string> {
  const event = 'x'.repeat(10_000)
  for (;;) yield event
}

describe('a reader who leaves', () => {
  it('aborts the signal and runs the finally of a generator that waits', async () => {
    const { port, finished, signal } = await openWatched(untilAborted)
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/data: one/)
    client.leave()
    await finished
    expect(signal()?.reason).toBeInstanceOf(CallerLeft)
  })

  it('stops a generator that never waits for anything', async () => {
    const { port, finished } = await openWatched(endless)
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/x/)
    client.leave()
    await finished
  })

  it('before the first event is noticed', async () => {
    const { port, finished, nextEnded } = await openWatched(async function* (signal) {
      await once(signal, 'abort')
      yield 'too late'
    })
    const client = await connectRaw(port)
    const ended = nextEnded()
    client.send(rawPost('/stream'))
    setImmediate(client.leave)
    await finished
    expect((await ended).status).toBe(499)
  })

  it('before the answer began leaves no generator suspended', async () => {
    const { promise: finished, resolve } = Promise.withResolvers<void>()
    async function* events() {
      try {
        yield* endless()
      } finally {
        resolve()
      }
    }
    const { port } = await openApp((app) => {
      app.post('/stream', open, (_request, reply) => {
        reply.raw.once('close', () => sendEvents(reply, inBatches(events()), FORMAT))
      })
    })
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    setImmediate(client.leave)
    await finished
  })

  it('between two keep-alive comments is noticed', async () => {
    const silence = { beforeHeaders: 5, betweenFrames: 5 }
    const { port, finished } = await openWatched(async function* (signal) {
      await once(signal, 'abort')
      yield 'too late'
    }, silence)
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/keep-alive.*keep-alive/s)
    client.leave()
    await finished
  })

  it('who reads slowly and leaves in the middle of a full buffer is noticed', async () => {
    const { port, finished } = await openWatched(endless)
    const client = await connectRaw(port)
    client.send(rawPost('/stream'))
    await client.until(/x/)
    client.pause()
    setTimeout(client.leave, 50)
    await finished
  })

  it('leaves one log line with 499 and no error', async () => {
    const { port, log, nextEnded, finished } = await openWatched(untilAborted)
    const client = await connectRaw(port)
    const ended = nextEnded()
    client.send(rawPost('/stream'))
    await client.until(/data: one/)
    client.leave()
    expect((await ended).status).toBe(499)
    await finished
    await settle()
    expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
    expect(log.filter(({ reqId }) => reqId !== undefined)).toHaveLength(1)
  })

  it('whose generator fails while it cleans up leaves that error in the log', async () => {
    const { port, log, nextEnded } = await openApp((app) => {
      app.post('/stream', open, (_request, reply) => {
        const events = (async function* () {
          try {
            yield* endless()
          } finally {
            // biome-ignore lint/correctness/noUnsafeFinally: the failure is what is tested
            throw new Error('cleaning failed')
          }
        })()
        sendEvents(reply, inBatches(events), FORMAT)
      })
    })
    const client = await connectRaw(port)
    const ended = nextEnded()
    client.send(rawPost('/stream'))
    await client.until(/x/)
    client.leave()
    await ended
    await settle()
    expect(JSON.stringify(log)).toContain('cleaning failed')
  })
})

it('a slow reader pauses the generator, and loses nothing', async () => {
  const TOTAL = 3_000
  const { port, produced } = await openWatched(async function* () {
    for (let event = 0; event < TOTAL; event += 1) yield `${event} ${'x'.repeat(10_000)}`
  })
  const client = await connectRaw(port)
  client.send(rawPost('/stream').replace('host:', 'connection: close\r\nhost:'))
  await client.until(/data: 0/)
  client.pause()
  let before = -1
  while (produced() !== before) {
    before = produced()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(before).toBeLessThan(TOTAL)
  client.resume()
  const text = await client.closed
  expect(text).toContain('data: end')
  expect(text.match(/data: \d+ /g)).toHaveLength(TOTAL)
})

it('an ended stream leaves no timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const { url, nextEnded } = await openWatched(async function* () {
    yield* ['one', 'two']
  })
  const before = timers()
  const ended = nextEnded()
  await (await fetch(`${url}/stream`, { method: 'POST' })).text()
  await ended
  expect(timers()).toBeLessThanOrEqual(before)
})
