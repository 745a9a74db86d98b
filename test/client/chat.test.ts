import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type ChatEvent,
  ChatStream,
  StreamInterruptedError,
  UpstreamError,
} from '../../packages/client/src/agent-server.ts'
import { clientOf } from '../support/client.ts'
import { startHttpProxy } from '../support/http-proxy.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { chunk, textReply, toolCallReply } from '../support/upstream-replies.ts'

const request = { messages: [{ role: 'user' as const, content: 'When do owls hunt?' }] }

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })

/** The server behind a proxy; its chat model answers what is scripted. */
async function start(...answers: string[]) {
  for (const answer of answers) upstream.script(textReply(answer))
  const proxy = await startHttpProxy(server)
  return { proxy, client: clientOf(proxy, { maxRetries: 1 }) }
}

describe('An answer', () => {
  it('comes as events, and can be had whole while it is read and afterwards', async () => {
    const { client } = await start('Owls hunt at night [1].')
    const stream = client.chat(request)
    const whole = stream.result()
    expect(await whole).toMatchObject({
      text: 'Owls hunt at night [1].',
      finishReason: 'stop',
      artifacts: [],
      hits: [{ title: 'Owls' }],
      usage: { totalTokens: expect.any(Number) },
    })
    expect(await stream.text()).toBe('Owls hunt at night [1].')
  })

  it('is to a question alone, too', async () => {
    const { client } = await start('At night [1].')
    expect(await client.chat('When do owls hunt?').text()).toBe('At night [1].')
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('When do owls hunt?')
  })

  it('comes from a draft of the agent, too', async () => {
    const { client } = await start('At night [1].')
    const stream = client.admin.agent.trials.chat({ ...request, text: '{"prompt": "Be brief."}' })
    const types = await Array.fromAsync(stream, ({ type }) => type)
    expect(types[0]).toBe('draft')
    expect(await stream.text()).toBe('At night [1].')
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Be brief.')
  })

  it('is read once: by a loop, after which the whole of it is there', async () => {
    const { client } = await start('Owls hunt at night [1].')
    const stream = client.chat(request)
    const events: ChatEvent[] = []
    for await (const event of stream) events.push(event)
    const text = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
    expect(text.join('')).toBe('Owls hunt at night [1].')
    expect(events.at(-1)).toMatchObject({ type: 'done', hits: [{ title: 'Owls' }] })
    expect((await stream.result()).text).toBe('Owls hunt at night [1].')
    expect(() => stream[Symbol.asyncIterator]()).toThrow(TypeError)
  })

  it('is told to listeners: text, steps of tools, the end', async () => {
    const { client } = await start()
    upstream.script(toolCallReply([{ name: 'semantic_search', arguments: { query: 'owls' } }]))
    upstream.script(textReply('At night [1].'))
    const heard: string[] = []
    const stream = client.chat({ ...request, includeSteps: true })
    const done = new Promise((resolve) => {
      stream
        .on('text', (fragment, text) => void heard.push(`${fragment}|${text}`))
        .on('tool', (step) => void heard.push(`${step.type} ${step.tool}`))
        .on('done', resolve)
    })
    expect(await done).toMatchObject({ text: 'At night [1].' })
    expect(heard.slice(0, 2)).toEqual(['tool-call semantic_search', 'tool-result semantic_search'])
    expect(heard.at(-1)).toMatch(/\|At night \[1\]\.$/)
  })

  it('can be passed on as lines, and read again elsewhere, with its failure', async () => {
    const { client } = await start('Owls hunt at night [1].')
    const forwarded = ChatStream.fromReadableStream(client.chat(request).toReadableStream())
    expect((await forwarded.result()).text).toBe('Owls hunt at night [1].')
    upstream.script({ status: 401, headers: {}, steps: [{ send: '{}' }] })
    const refused = client.chat(request, { maxRetries: 0 })
    const failed = ChatStream.fromReadableStream(refused.toReadableStream())
    await expect(failed.result()).rejects.toMatchObject({
      name: 'UpstreamError',
      code: 'upstream_unauthorized',
    })
  })

  it('tells the status and the request id of its beginning', async () => {
    const { client } = await start('At night.')
    const { data, response, requestId } = await client.chat(request).withResponse()
    expect(response.status).toBe(200)
    expect(requestId).toBe(response.headers.get('x-request-id'))
    expect(await data.text()).toBe('At night.')
  })
})

describe('An answer that is left', () => {
  it.each<[string, (stream: ChatStream) => Promise<unknown>, string | undefined]>([
    [
      'by breaking off a loop',
      async (stream) => {
        for await (const _event of stream) break
      },
      undefined,
    ],
    [
      'by abort()',
      async (stream) => {
        for await (const _event of stream) stream.abort()
      },
      'AbortError',
    ],
    [
      'by cancelling what was passed on',
      async (stream) => {
        const reader = stream.toReadableStream().getReader()
        await reader.read()
        await reader.cancel()
      },
      undefined,
    ],
    [
      'by cancelling what was passed on before anything is read',
      async (stream) => {
        await stream.withResponse()
        await stream.toReadableStream().cancel()
      },
      undefined,
    ],
  ])('ends at the server, too: %s', async (_how, leave, name) => {
    const { client } = await start()
    upstream.script({ steps: [chunk({ role: 'assistant', content: 'Owls ' }), { hang: true }] })
    const stream = client.chat(request)
    const outcome = await leave(stream).catch((error: Error) => error.name)
    expect(outcome).toBe(name)
    await upstream.requests.at(-1)?.closed
    expect(upstream.requests.at(-1)?.disconnected).toBe(true)
    await expect(stream.result()).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('ends by the signal of its caller', async () => {
    const { client } = await start()
    upstream.script({ steps: [chunk({ role: 'assistant', content: 'Owls ' }), { hang: true }] })
    const stop = new AbortController()
    const stream = client.chat(request, { signal: stop.signal })
    stream.on('text', () => stop.abort()).on('error', () => undefined)
    await expect(stream.result()).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('An answer that is cut off', () => {
  it('throws StreamInterruptedError with the text so far, and is not asked for again', async () => {
    const { client, proxy } = await start()
    const { promise, resolve } = Promise.withResolvers<void>()
    onTestFinished(() => resolve())
    upstream.script({
      steps: [chunk({ role: 'assistant', content: 'Owls hunt' }), { until: promise }],
    })
    const stream = client.chat(request)
    const failure = await (async () => {
      for await (const event of stream) if (event.type === 'text-delta') proxy.cut()
    })().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StreamInterruptedError)
    const { requestId } = await stream.withResponse()
    expect(requestId).toMatch(/./)
    const cause = { name: 'ConnectionError' }
    expect(failure).toMatchObject({ text: 'Owls hunt', requestId, cause })
    await expect(stream.result()).rejects.toBe(failure)
    await pause(50)
    expect(proxy.requests).toHaveLength(1)
  })

  it.each<[string, (answer: string) => string]>([
    ['without its last event', (answer) => answer.replace(/event: done.*$/s, '')],
    ['within its last event', (answer) => answer.slice(0, -20)],
    [
      'by what is no event',
      (answer) => answer.replace(/event: done.*$/s, 'event: done\ndata: {"type\n\n'),
    ],
  ])('is told from a whole one where it ends %s', async (_how, rewrite) => {
    const { client, proxy } = await start('Owls hunt at night [1].')
    proxy.fail({ rewrite })
    await expect(client.chat(request).result()).rejects.toMatchObject({
      name: 'StreamInterruptedError',
      text: 'Owls hunt at night [1].',
    })
  })

  it('by silence is told so', async () => {
    const { proxy } = await start()
    upstream.script({ steps: [chunk({ role: 'assistant', content: 'Owls ' }), { hang: true }] })
    const failure = await clientOf(proxy, { timeout: 1_000, maxRetries: 0 })
      .chat(request)
      .text()
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({
      name: 'StreamInterruptedError',
      cause: { name: 'TimeoutError' },
    })
  })

  it('by the server’s own word throws what the server says, with the text so far', async () => {
    const { client } = await start()
    upstream.script({ steps: [chunk({ role: 'assistant', content: 'Owls ' }), { cut: true }] })
    const stream = client.chat(request)
    const heard: unknown[] = []
    stream.on('error', (error) => void heard.push(error))
    const failure = await stream.result().catch((error: unknown) => error)
    expect(failure).toMatchObject({
      name: 'StreamInterruptedError',
      text: 'Owls ',
      cause: expect.any(UpstreamError),
      code: 'upstream_failed',
      requestId: expect.stringMatching(/./),
    })
    expect(heard).toEqual([failure])
  })

  it('before its first word is asked for again, with the same key', async () => {
    const { client, proxy } = await start('At night.')
    proxy.fail('refuse')
    expect(await client.chat(request).text()).toBe('At night.')
    const keys = proxy.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([keys[0], keys[0]])
  })
})

describe('A server of the next version', () => {
  const LATER =
    'event: message\ndata: {"type":"plan","steps":["look"],"of":{"a":1}}\n\nevent: heartbeat\ndata: 12:00\n\n'

  it('may send events, fields and reasons that this client does not know', async () => {
    const { client, proxy } = await start('At night.')
    proxy.fail({
      rewrite: (answer) =>
        `id: 1\nretry: 5\n${LATER}${answer.replaceAll('"finishReason":"stop"', '"finishReason":"satisfied","mood":"calm"')}`,
    })
    const types: string[] = []
    const stream = client.chat(request)
    stream.on('event', ({ type }) => void types.push(type))
    expect(await stream.result()).toMatchObject({
      text: 'At night.',
      finishReason: 'satisfied',
      mood: 'calm',
    })
    expect(types[0]).toBe('plan')
  })

  it('may answer fields, states and error codes that this client does not know', async () => {
    const { client, proxy } = await start('At night.')
    const id = await server.ingest({ text: 'Herons fish.' })
    proxy.fail({ rewrite: (answer) => answer.replace('"ready"', '"archived","shelf":3') })
    expect(await client.documents.get(id)).toMatchObject({ status: 'archived', shelf: 3 })
    const error = {
      message: 'No',
      type: 'quota_error',
      code: 'quota_spent',
      param: null,
      request_id: 'r',
      of: 1,
    }
    proxy.fail({ status: 402, body: JSON.stringify({ error }) })
    await expect(client.agent.get()).rejects.toMatchObject({
      name: 'InvalidRequestError',
      status: 402,
      code: 'quota_spent',
      requestId: 'r',
    })
    proxy.fail({
      rewrite: (answer) =>
        answer.replace(
          /event: done.*$/s,
          `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`,
        ),
    })
    await expect(client.chat(request).result()).rejects.toMatchObject({ code: 'quota_spent' })
  })
})
