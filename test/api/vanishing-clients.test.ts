import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, readChat } from '../support/chat-reader.ts'
import { readBlocks } from '../support/event-stream-reader.ts'
import { countDocuments } from '../support/knowledge.ts'
import { allRunsEnded, readMetrics } from '../support/metrics.ts'
import { openConnection, rawRequest } from '../support/raw-connection.ts'
import {
  type RecordedRequest,
  type Script,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { chunk, DONE, hangReply, streamReply, textReply } from '../support/upstream-replies.ts'

const messages = [{ role: 'user', content: 'Hello?' }]
const SPEAKING = streamReply(chunk({ content: 'Half ' }), { hang: true })
/** More than the buffers between a model and a client that does not read can hold. */
const ENDLESS_CHUNKS = 4_000
const LARGE = 'x'.repeat(16_384)

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ text: 'Owls hoot.' })

afterEach(async () => {
  await allRunsEnded(server)
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  upstream.script(textReply('Still here.'))
  expect((await ask(server, 'Hello?')).answer).toBe('Still here.')
})

/** Begins a chat whose model plays `script`; answers what the model was asked. */
async function begin(script: Script, path: string, body: object) {
  upstream.script(script)
  const arrived = upstream.nextRequest()
  const leaving = new AbortController()
  const response = server.request(path, { body, signal: leaving.signal })
  // A response that is never awaited must not fail the test by rejecting.
  response.catch(() => undefined)
  return { model: await arrived, response, leave: () => leaving.abort() }
}

async function expectAborted(model: RecordedRequest): Promise<void> {
  await model.closed
  expect(model.disconnected).toBe(true)
}

describe.each([
  ['/chat', { messages }],
  ['/v1/chat/completions', { messages }],
])('A client of %s that hangs up', verifies('chat.hang-up', 'input.vanishing'), (path, body) => {
  it('before the first token aborts the model call', async () => {
    const { model, leave } = await begin(hangReply(), path, body)
    leave()
    await expectAborted(model)
  })

  it('mid-stream aborts the model call', async () => {
    const { model, response, leave } = await begin(SPEAKING, path, body)
    await readBlocks(await response).next()
    leave()
    await expectAborted(model)
  })
})

describe('A client of a plain completion that hangs up', () => {
  it('aborts the model call', verifies('chat.hang-up', 'input.vanishing'), async () => {
    const body = { messages, stream: false }
    const { model, leave } = await begin(SPEAKING, '/v1/chat/completions', body)
    leave()
    await expectAborted(model)
  })
})

describe('Many clients that vanish at once', () => {
  it(
    'leave no run open, and the metrics say that they were abandoned',
    verifies('input.vanishing', 'chat.hang-up', 'metrics.timings'),
    async () => {
      const before = await abandonedRuns()
      const clients = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          upstream.script(index % 2 === 0 ? SPEAKING : hangReply())
          const connection = await openConnection(server)
          connection.send(rawRequest({ path: '/chat', body: JSON.stringify({ messages }) }))
          return connection
        }),
      )
      await expect
        .poll(async () => (await readMetrics(server)).get('agent_server_runs_open'), {
          timeout: 10_000,
        })
        .toBe(20)
      for (const client of clients) client.vanish()
      await allRunsEnded(server)
      expect(await abandonedRuns()).toBe(before + 20)
      await Promise.all(upstream.requests.map(({ closed }) => closed))
    },
  )

  async function abandonedRuns(): Promise<number> {
    const name = 'agent_server_run_seconds_count{outcome="abandoned"}'
    return (await readMetrics(server)).get(name) ?? 0
  }
})

describe('A client that does not read', () => {
  it(
    'holds the model back instead of filling the memory, and lets it go when it leaves',
    verifies('input.vanishing', 'chat.hang-up'),
    async () => {
      const steps = Array.from({ length: ENDLESS_CHUNKS }, () => chunk({ content: LARGE }))
      upstream.script(streamReply(...steps, chunk({}, 'stop'), DONE))
      const arrived = upstream.nextRequest()
      const connection = await openConnection(server)
      connection.socket.pause()
      connection.send(rawRequest({ path: '/chat', body: JSON.stringify({ messages }) }))
      const model = await arrived
      const open = await Promise.race([model.closed.then(() => 'sent it all'), pause(500, 'held')])
      expect(open).toBe('held')
      connection.vanish()
      await expectAborted(model)
    },
  )

  it('gets the whole answer once it reads', verifies('events.concatenate'), async () => {
    const steps = Array.from({ length: 200 }, () => chunk({ content: LARGE }))
    upstream.script(streamReply(...steps, chunk({}, 'stop'), DONE))
    const response = await server.request('/chat', { body: { messages } })
    await pause(200)
    const { answer, done } = await readChat(response)
    expect(answer.length).toBe(200 * LARGE.length)
    expect(done?.finishReason).toBe('stop')
  })
})

describe('A slow client', verifies('http.slow', 'errors.not-http'), () => {
  it('is waited for while its body trickles in', async () => {
    const before = await countDocuments(server)
    const connection = await openConnection(server)
    const request = rawRequest({ path: '/documents', body: '{"text":"Slowly."}' })
    for (const byte of request) {
      connection.send(Uint8Array.of(byte))
      await pause(1)
    }
    expect(await connection.received(/"pending"\}/)).toMatch(/^HTTP\/1\.1 202 /)
    connection.vanish()
    expect(await countDocuments(server)).toBe(before + 1)
  })

  it('that never ends its request is answered 408 and let go, while others are served', async () => {
    const impatient = await startServer(
      {},
      {
        beforeListen: ({ server: http }) =>
          Object.assign(http, {
            headersTimeout: 1_500,
            requestTimeout: 1_500,
            connectionsCheckingInterval: 20,
          }),
      },
    )
    const body = '{"text":"Never whole."}'
    const slow = await Promise.all(
      [
        rawRequest({ path: '/health' }).subarray(0, 10),
        rawRequest({ path: '/health' }).subarray(0, -2),
        rawRequest({ path: '/documents', body }).subarray(0, -1),
      ].flatMap((bytes) =>
        Array.from({ length: 20 }, async () => {
          const connection = await openConnection(impatient)
          connection.send(bytes)
          return connection
        }),
      ),
    )
    expect((await impatient.request('/agent')).status).toBe(200)
    for (const connection of slow) {
      expect(await connection.closed()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/)
    }
    expect(await countDocuments(impatient)).toBe(0)
  })

  it('has a minute for the head of a request, and an hour for an upload', async () => {
    const limits: number[] = []
    await startServer(
      {},
      {
        beforeListen: ({ server: { requestTimeout, headersTimeout } }) =>
          void limits.push(requestTimeout, headersTimeout),
      },
    )
    expect(limits).toEqual([3_600_000, 60_000])
  })
})
