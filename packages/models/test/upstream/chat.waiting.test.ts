import { execFile } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { eachEvent } from '../../../../test/support/batches.ts'
import { onlyLong } from '../../../../test/support/long.ts'
import {
  chunk,
  cutReply,
  DONE,
  hangReply,
  streamReply,
  textReply,
} from '../../../../test/support/upstream-replies.ts'
import { question, readAnswer, startModel } from './model-for-test.ts'

const IDLE = 500
const STALLED = {
  code: 'upstream_timeout',
  message:
    'The chat model stopped responding: check its server; CHAT_IDLE_TIMEOUT is how long it may be silent',
}

describe('a silent upstream', () => {
  it('is given up before the first byte, without another try', async () => {
    const { upstream, ask } = await startModel({ idleTimeoutMs: IDLE })
    upstream.always(hangReply())
    await expect(ask()).rejects.toMatchObject(STALLED)
    await upstream.requests[0]?.closed
    expect(upstream.requests.map(({ disconnected }) => disconnected)).toEqual([true])
  })

  it.each([
    ['after the headers', [{ send: ': hello\n\n' }]],
    ['in the middle of the answer', [chunk({ content: 'At' })]],
    ['in the middle of a chunk', [{ send: 'data: {"choices"' }]],
  ])('is given up %s', async (_case, steps) => {
    const { upstream, ask } = await startModel({ idleTimeoutMs: IDLE })
    upstream.always(streamReply(...steps, { hang: true }))
    await expect(ask()).rejects.toMatchObject(STALLED)
    await upstream.requests[0]?.closed
    expect(upstream.requests[0]?.disconnected).toBe(true)
  })

  it('is given up in the middle of an error body', async () => {
    const { upstream, ask } = await startModel({ idleTimeoutMs: IDLE })
    upstream.always({ status: 400, headers: {}, steps: [{ send: '{"error"' }, { hang: true }] })
    await expect(ask()).rejects.toMatchObject(STALLED)
  })

  it('is kept waiting for by comments, and by reasoning that is no part of the answer', async () => {
    // Together longer than the limit, and each far enough below it for a busy machine.
    const { upstream, ask } = await startModel({ idleTimeoutMs: 1_500 })
    const rest = { pauseMs: 600 }
    upstream.script(
      streamReply(
        { send: ': OPENROUTER PROCESSING\n\n' },
        rest,
        { send: ': OPENROUTER PROCESSING\n\n' },
        rest,
        chunk({ reasoning_content: 'hm' }),
        rest,
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    )
    expect((await ask()).text).toBe('At nine')
  })

  it('is waited for while a whole answer comes in pieces', async () => {
    const { upstream, ask } = await startModel({ idleTimeoutMs: 1_500 })
    const rest = { pauseMs: 600 }
    const pieces = [
      '{"choices": [',
      '{"message": ',
      '{"content": "At nine"}, ',
      '"finish_reason": "stop"}]}',
    ]
    upstream.script(streamReply(...pieces.flatMap((send) => [{ send }, rest])))
    expect((await ask()).text).toBe('At nine')
  })

  it('is waited for while it answers another call, but not once it is silent', async () => {
    const { upstream, ask } = await startModel({ idleTimeoutMs: 1_000 })
    const rest = { pauseMs: 600 }
    const said = ['One', ' two', ' three'].flatMap((content) => [rest, chunk({ content })])
    upstream.script(
      streamReply(...said, chunk({}, 'stop'), DONE),
      streamReply({ pauseMs: 2_200 }, chunk({ content: 'At nine' }), chunk({}, 'stop'), DONE),
      hangReply(),
    )
    const begun = performance.now()
    const answers = [ask(), ask(), ask()]
    const outcomes = await Promise.allSettled(answers)
    expect(outcomes).toMatchObject([
      { value: { text: 'One two three' } },
      { value: { text: 'At nine' } },
      { reason: STALLED },
    ])
    expect(performance.now() - begun).toBeGreaterThan(3_000)
  })

  it('is not blamed for a reader that takes its time', async () => {
    const idleTimeoutMs = 600
    const { upstream, model } = await startModel({ idleTimeoutMs })
    const reader = Promise.withResolvers<void>()
    const rest = [chunk({ content: ' nine' }), chunk({}, 'stop'), DONE]
    upstream.script(streamReply(chunk({ content: 'At' }), { until: reader.promise }, ...rest))
    let text = ''
    for await (const event of eachEvent(model.stream(question(), new AbortController().signal))) {
      if (event.type === 'text-delta') text += event.text
      if (text === 'At') await pause(idleTimeoutMs * 2)
      reader.resolve()
    }
    expect(text).toBe('At nine')
  })

  it('does not hold back the end of an answer that has its finish reason', async () => {
    const { upstream, ask } = await startModel({ idleTimeoutMs: 20_000 })
    upstream.script(streamReply(chunk({ content: 'At nine' }), chunk({}, 'stop'), { hang: true }))
    const started = performance.now()
    expect(await ask()).toMatchObject({ text: 'At nine', finish: { usage: undefined } })
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('a caller who leaves', () => {
  it.each([
    ['before the first byte', hangReply()],
    ['after the headers', streamReply({ send: ': hello\n\n' }, { hang: true })],
  ])('%s ends the upstream request at once', async (_case, script) => {
    const { upstream, ask } = await startModel()
    upstream.script(script)
    const controller = new AbortController()
    const answer = ask({}, controller.signal)
    const request = await upstream.nextRequest()
    controller.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
    await request.closed
    expect(request.disconnected).toBe(true)
  })

  it('in the middle of the answer ends the upstream request at once', async () => {
    const { upstream, model } = await startModel()
    upstream.script(streamReply(chunk({ content: 'At' }), { hang: true }))
    const controller = new AbortController()
    const events = eachEvent(model.stream(question(), controller.signal))
    await events.next()
    const rest = readAnswer(events)
    controller.abort(new Error('left'))
    await expect(rest).rejects.toThrow('left')
    await upstream.requests[0]?.closed
    expect(upstream.requests[0]?.disconnected).toBe(true)
  })

  it('after the finish reason still ends the stream with the reason', async () => {
    const { upstream, model } = await startModel()
    upstream.script(streamReply(chunk({ content: 'At' }, 'stop'), { hang: true }))
    const controller = new AbortController()
    const events = eachEvent(model.stream(question(), controller.signal))
    await events.next()
    controller.abort(new Error('left'))
    await expect(events.next()).rejects.toThrow('left')
  })

  it('by no longer reading ends the upstream request too', async () => {
    const { upstream, model } = await startModel()
    upstream.script(streamReply(chunk({ content: 'At' }), { hang: true }))
    for await (const event of eachEvent(model.stream(question(), new AbortController().signal))) {
      expect(event.type).toBe('text-delta')
      break
    }
    await upstream.requests[0]?.closed
    expect(upstream.requests[0]?.disconnected).toBe(true)
  })

  it('leaves no listener behind on a signal that lives longer', async () => {
    const { upstream, model } = await startModel()
    upstream.always(textReply('At nine'))
    const { signal } = new AbortController()
    await readAnswer(eachEvent(model.stream(question(), signal)))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('connections', () => {
  it('serve one call after another, also where the end of the body lags behind', async () => {
    const { upstream, ask } = await startModel()
    const lagging = streamReply(chunk({ content: 'At' }, 'stop'), DONE, { pauseMs: 20 })
    upstream.always(lagging)
    for (let call = 0; call < 5; call += 1) {
      await ask()
      await upstream.requests.at(-1)?.closed
    }
    expect(upstream.requests.map(({ disconnected }) => disconnected)).not.toContain(true)
    // The next call may begin a moment before the last one's connection is free.
    expect(upstream.connections).toBeLessThanOrEqual(2)
  })

  it('serve a call after a longer rest than Node itself waits', onlyLong, async () => {
    expect(await connectionsWithRest(6_000, 60_000)).toBe(1)
  })

  it('are given up before the server closes them, where it says when', async () => {
    expect(await connectionsWithRest(1_200, 2_000)).toBe(2)
  })

  it('that break when they are used again cost no call and no wait', async () => {
    const { upstream, ask, logged } = await startModel()
    upstream.script(textReply('At nine'), cutReply(), textReply('At ten'))
    await ask()
    await upstream.requests[0]?.closed
    expect(await ask()).toMatchObject({ text: 'At ten' })
    expect([upstream.requests.length, logged]).toEqual([3, []])
  })

  it('go through the proxy that the environment names', async () => {
    const { upstream } = await startModel()
    const program = `
      const { askJson } = await import(${JSON.stringify(CONNECTION)})
      const server = { apiKey: 'key', baseUrl: 'http://model.invalid/v1' }
      const answer = await askJson(server, '/models', undefined, AbortSignal.timeout(5_000))
      console.log(await answer.text())`
    const { origin } = new URL(upstream.url)
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: origin }
    const node = [process.execPath, ['--input-type=module', '--eval', program], { env }] as const
    expect(await promisify(execFile)(...node)).toMatchObject({
      stdout: expect.stringContaining('scripted'),
    })
  })
})

const CONNECTION = new URL('../../src/upstream/connection.ts', import.meta.url).href

/** How many connections two calls take that lie so far apart, where the server keeps them so long. */
async function connectionsWithRest(restMs: number, keepAliveTimeout: number): Promise<number> {
  const { upstream, ask } = await startModel({}, { keepAliveTimeout })
  upstream.always(textReply('At nine'))
  await ask()
  await pause(restMs)
  await ask()
  return upstream.connections
}
