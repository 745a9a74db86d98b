import { setTimeout as pause } from 'node:timers/promises'
import {
  type FrameFormat,
  prefersJson,
  type Silence,
  sendEvents,
} from '@agent-server/http/event-stream.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { describe, expect, it } from 'vitest'
import { inBatches } from '../../../test/support/batches.ts'
import { long, someOf } from '../../../test/support/long.ts'
import { ERROR_LEVEL, envelope, type OpenApp, open, openApp } from './open-app.ts'

const FORMAT: FrameFormat<string> = {
  encode: (event) => `data: ${event}\n\n`,
  encodeError: ({ error }) => `data: failed ${error.code} ${error.message}\n\n`,
  end: 'data: end\n\n',
}

type Events = (signal: AbortSignal) => AsyncGenerator<string>

function openStream(events: Events, silence?: Silence): Promise<OpenApp> {
  return openApp((app, stopping) => {
    app.post('/stream', open, (_request, reply) => {
      sendEvents(reply, inBatches(events(callSignal(reply, stopping))), FORMAT, silence)
    })
  })
}

async function read(events: Events, silence?: Silence) {
  const opened = await openStream(events, silence)
  const response = await fetch(`${opened.url}/stream`, { method: 'POST' })
  return { ...opened, response, text: await response.text() }
}

async function* failing(thrown: unknown): AsyncGenerator<string> {
  yield* []
  throw thrown
}

describe('a stream', () => {
  it('is its frames in order, then its end', async () => {
    const { response, text } = await read(async function* () {
      yield* ['one', 'two', 'three']
    })
    expect(response.status).toBe(200)
    expect(text).toBe('data: one\n\ndata: two\n\ndata: three\n\ndata: end\n\n')
  })

  it('is an event stream that no proxy caches, changes or buffers', async () => {
    const { headers } = (
      await read(async function* () {
        yield 'one'
      })
    ).response
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('x-request-id')).not.toBeNull()
  })

  it('without an event is its end alone', async () => {
    const { response, text } = await read(async function* () {
      yield* []
    })
    expect(response.status).toBe(200)
    expect(text).toBe('data: end\n\n')
  })

  it('sends a frame when it happens and not with the next one', async () => {
    const second = Promise.withResolvers<void>()
    const { url } = await openStream(async function* () {
      yield 'one'
      await second.promise
      yield 'two'
    })
    const response = await fetch(`${url}/stream`, { method: 'POST' })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe('data: one\n\n')
    second.resolve()
    expect((await reader?.read())?.value).toContain('data: two\n\n')
  })

  it('leaves in one write, with its end, where nothing is waited for', async () => {
    let writes = 0
    const { url } = await openApp((app) => {
      app.post('/stream', open, (_request, reply) => {
        const { socket } = reply.raw
        for (const name of ['_write', '_writev'] as const) {
          const work = socket?.[name]
          const counted = (...parameters: unknown[]) => {
            writes += 1
            return work && Reflect.apply(work, socket, parameters)
          }
          Object.assign(socket ?? {}, { [name]: counted })
        }
        const events = async function* () {
          yield* ['one', 'two', 'three']
        }
        sendEvents(reply, inBatches(events()), FORMAT)
      })
    })
    const response = await fetch(`${url}/stream`, { method: 'POST' })
    expect(await response.text()).toContain('data: three\n\ndata: end\n\n')
    expect(writes).toBe(1)
  })

  it.each(someOf([10_000, 100_000], 1))('of %d events arrives whole', long, async (events) => {
    const { text } = await read(async function* () {
      for (let event = 0; event < events; event += 1) yield String(event)
    })
    const frames = text.split('\n\n')
    expect(frames).toHaveLength(events + 2)
    expect(frames[events - 1]).toBe(`data: ${events - 1}`)
  })
})

describe('a failure before the first event', () => {
  it('travels as an HTTP status in the envelope', async () => {
    const busy = new AppError('upstream_rate_limited', 'The chat model is busy', { retryAfter: 3 })
    const { response, text } = await read(() => failing(busy))
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('3')
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(JSON.parse(text)).toEqual(envelope('upstream_rate_limited', 'The chat model is busy'))
  })

  it.each([
    ['an error', new Error('hunter2')],
    ['something that is no error', 'hunter2'],
  ])('is hidden where nobody foresaw it: %s', async (_case, thrown) => {
    const { response, text, log } = await read(() => failing(thrown))
    expect(response.status).toBe(500)
    expect(JSON.parse(text)).toEqual(envelope('internal', 'Internal error'))
    expect(JSON.stringify(log.find(({ level }) => level === ERROR_LEVEL))).toContain('hunter2')
  })

  it('is a frame once the headers had to leave', async () => {
    const failure = Promise.withResolvers<never>()
    const { url } = await openStream(
      async function* () {
        yield await failure.promise
      },
      { beforeHeaders: 10, betweenFrames: 60_000 },
    )
    const response = await fetch(`${url}/stream`, { method: 'POST' })
    expect(response.status).toBe(200)
    failure.reject(new AppError('upstream_timeout', 'Too slow'))
    expect(await response.text()).toBe(': keep-alive\n\ndata: failed upstream_timeout Too slow\n\n')
  })
})

describe('a failure after the first event', () => {
  it('is the last frame, and no end follows it', async () => {
    const { response, text } = await read(async function* () {
      yield 'one'
      throw new AppError('upstream_failed', 'The connection failed')
    })
    expect(response.status).toBe(200)
    expect(text).toBe('data: one\n\ndata: failed upstream_failed The connection failed\n\n')
  })

  it('is hidden where nobody foresaw it, and logged whole', async () => {
    const { text, log } = await read(async function* () {
      yield 'one'
      throw new Error('hunter2')
    })
    expect(text).toBe('data: one\n\ndata: failed internal Internal error\n\n')
    expect(JSON.stringify(log.find(({ level }) => level === ERROR_LEVEL))).toContain('hunter2')
  })

  it('of the encoding runs the finally of the generator', async () => {
    let finished = false
    const { url, nextEnded } = await openApp((app) => {
      app.post('/stream', open, (_request, reply) => {
        const events = (async function* () {
          try {
            yield 1n
          } finally {
            finished = true
          }
        })()
        sendEvents(reply, inBatches(events), { ...FORMAT, encode: JSON.stringify })
      })
    })
    const ended = nextEnded()
    const text = await (await fetch(`${url}/stream`, { method: 'POST' })).text()
    expect(text).toBe('data: failed internal Internal error\n\n')
    await ended
    expect(finished).toBe(true)
  })
})

describe('a silent stream', () => {
  it('sends its headers with a comment after the first wait', async () => {
    const event = Promise.withResolvers<string>()
    const { url } = await openStream(
      async function* () {
        yield await event.promise
      },
      { beforeHeaders: 10, betweenFrames: 60_000 },
    )
    const response = await fetch(`${url}/stream`, { method: 'POST' })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe(': keep-alive\n\n')
    event.resolve('one')
    expect((await reader?.read())?.value).toContain('data: one\n\n')
  })

  it('is kept open by comments between its frames', async () => {
    const second = Promise.withResolvers<string>()
    const { url } = await openStream(
      async function* () {
        yield 'one'
        yield await second.promise
      },
      { beforeHeaders: 10_000, betweenFrames: 20 },
    )
    const { body } = await fetch(`${url}/stream`, { method: 'POST' })
    let text = ''
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.endsWith(': keep-alive\n\n'.repeat(2))) second.resolve('two')
    }
    expect(text).toMatch(/^data: one\n\n(: keep-alive\n\n){2,5}data: two\n\ndata: end\n\n$/)
  })

  it('has no comment where events come in time', async () => {
    const { text } = await read(
      async function* () {
        for (let event = 0; event < 5; event += 1) {
          await pause(2)
          yield 'x'
        }
      },
      { beforeHeaders: 10_000, betweenFrames: 1_000 },
    )
    expect(text).not.toContain('keep-alive')
  })
})

describe('A client that does not say whether it wants a stream', () => {
  it.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'text/plain, application/json',
    'application/json, text/plain, */*',
    'application/json;q=1, text/event-stream;q=0.5',
    'application/json, text/event-stream',
  ])('is taken to want none where it accepts %s', (accept) =>
    expect(prefersJson({ accept })).toBe(true),
  )

  it.each([
    undefined,
    '*/*',
    'text/*',
    'text/event-stream',
    'text/event-stream, application/json',
    'application/json;q=0.5, text/event-stream',
    'application/json;q=0',
    'application/jsonlines',
  ])('is taken to want one where it accepts %s', (accept) =>
    expect(prefersJson({ accept })).toBe(false),
  )
})
