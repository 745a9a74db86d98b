import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, readChat, readCompletion } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { search } from '../support/knowledge.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { allRunsEnded, readMetrics } from '../support/metrics.ts'
import { openConnection, rawRequest } from '../support/raw-connection.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const messages = [{ role: 'user', content: 'Hello?' }]
const readiness = async ({ request }: TestServer) => {
  const response = await request('/readiness')
  return { status: response.status, body: await response.json() }
}

describe('GET /health', () => {
  it('answers that the process is alive', verifies('health.live', 'endpoint.health'), async () => {
    const response = await fetch(`${(await startServer()).url}/health`)
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
  })
})

describe('GET /readiness', () => {
  it(
    'names every part, the retrieval and the documents by status',
    verifies('readiness.parts', 'readiness.lexical', 'endpoint.readiness'),
    async () => {
      const server = await startServer()
      await server.ingest({ text: 'One.' })
      const ok = { state: 'ok', milliseconds: expect.any(Number) }
      expect(await readiness(server)).toEqual({
        status: 200,
        body: {
          status: 'ready',
          checks: { store: ok, index: ok, agent: ok, ingestion: ok },
          retrieval: 'lexical',
          documents: { pending: 0, processing: 0, ready: 1, failed: 0 },
        },
      })
    },
  )

  it(
    'answers 503, naming the agent, where its configuration cannot be read',
    verifies('readiness.parts', 'health.live'),
    async () => {
      const file = await writeAgentFile({})
      const server = await startServer({ AGENT_CONFIG: file })
      await rm(file)
      await mkdir(file)
      expect(await readiness(server)).toMatchObject({
        status: 503,
        body: {
          status: 'not_ready',
          checks: { store: { state: 'ok' }, agent: { state: 'failed' } },
        },
      })
      expect((await fetch(`${server.url}/health`)).status).toBe(200)
    },
  )

  it('answers 503 while the index is rebuilt, as a query does, and /health stays 200', {
    ...onlyLong,
    ...verifies('readiness.parts', 'health.live', 'errors.retry-after'),
  }, async () => {
    const directory = await temporaryDirectory()
    const before = await startServer({ DATA_DIR: directory })
    await before.ingest({ text: 'Otters hold hands.' })
    await before.close()
    await rm(join(directory, 'index'), { recursive: true })

    const rebuilding = await startServer({ DATA_DIR: directory }, { begin: false })
    expect(await readiness(rebuilding)).toMatchObject({
      status: 503,
      body: {
        status: 'not_ready',
        checks: {
          store: { state: 'ok' },
          index: { state: 'failed', message: expect.stringMatching(/rebuilt/) },
        },
      },
    })
    for (const [path, body] of [
      ['/query', { query: 'otters' }],
      ['/chat', { messages }],
      ['/v1/chat/completions', { messages, stream: false }],
    ] as const) {
      const failure = await failureOf(await rebuilding.request(path, { body }))
      expect(failure).toMatchObject({ status: 503, code: 'index_not_ready' })
      expect(Number(failure.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await fetch(`${rebuilding.url}/health`)).status).toBe(200)
    await rebuilding.close()

    const rebuilt = await startServer({ DATA_DIR: directory })
    expect(await readiness(rebuilt)).toMatchObject({ status: 200 })
    expect(await search(rebuilt, 'otters')).toHaveLength(1)
  })
})

describe('GET /metrics', () => {
  it(
    'is Prometheus text behind the key, with timings of requests, ingestion, retrieval and runs',
    verifies('metrics.key', 'metrics.timings'),
    async () => {
      const server = await startServer()
      const text = 'Otters hold hands.'
      await server.ingest({ text })
      await search(server, 'otters')
      await search(server, 'otters')
      await ask(server, 'otters')
      await allRunsEnded(server)

      expect((await fetch(`${server.url}/metrics`)).status).toBe(401)
      const response = await server.request('/metrics')
      expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
      const metrics = await readMetrics(server)
      const expected = {
        'agent_server_request_seconds_count{operation="query",status="200"}': 2,
        'agent_server_request_seconds_count{operation="createDocument",status="200"}': 1,
        'agent_server_ingestion_seconds_count{status="ready"}': 1,
        agent_server_ingested_characters_total: text.length,
        agent_server_search_seconds_count: 3,
        'agent_server_run_seconds_count{outcome="stop"}': 1,
        agent_server_run_first_delta_seconds_count: 1,
        agent_server_runs_open: 0,
        'agent_server_documents{status="ready"}': 1,
        'agent_server_documents{status="failed"}': 0,
        agent_server_chunks: 1,
      }
      for (const [name, value] of Object.entries(expected)) {
        expect([name, metrics.get(name)]).toEqual([name, value])
      }
    },
  )
})

describe('A stream that fails after it has begun', () => {
  it.each(
    someOf(
      [
        ['chat', '/chat', { messages }],
        ['createChatCompletion', '/v1/chat/completions', { messages, stream: true }],
        ['createResponse', '/v1/responses', { input: 'Hello?', stream: true }],
        ['ollamaChat', '/api/chat', { model: 'agent', messages }],
      ],
      1,
    ),
  )('counts with the status of its error: %s', long, async (operation, path, body) => {
    const upstream = await startScriptedUpstream()
    upstream.always(streamReply(chunk({ content: 'Half ' }), { cut: true }))
    const server = await startServer(modelAt(upstream))
    const response = await server.request(path, { body })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Half')])
    const counted = `agent_server_request_seconds_count{operation="${operation}",status="502"}`
    await expect.poll(async () => (await readMetrics(server)).get(counted)).toBe(1)
  })
})

describe('A server that stops', () => {
  async function startStreaming(environment: Record<string, string>) {
    const upstream = await startScriptedUpstream()
    const release = Promise.withResolvers<void>()
    upstream.always(
      streamReply(
        chunk({ content: 'Half ' }),
        { until: release.promise },
        chunk({ content: 'and half' }),
        chunk({}, 'stop'),
        DONE,
      ),
    )
    const server = await startServer(modelAt(upstream, environment))
    const streams = await Promise.all([
      server.request('/chat', { body: { messages } }),
      server.request('/v1/chat/completions', { body: { messages } }),
    ])
    return { upstream, server, streams, release: () => release.resolve() }
  }

  it(
    'lets an open stream finish within the grace period',
    verifies('shutdown.streams'),
    async () => {
      const { server, streams, release } = await startStreaming({ SHUTDOWN_GRACE: '20' })
      const closed = server.close()
      release()
      const [chat, completion] = streams
      expect((await readChat(chat)).answer).toBe('Half and half')
      expect((await readCompletion(completion)).answer).toBe('Half and half')
      await closed
    },
  )

  it(
    'ends a stream with an error frame after the grace period, and leaves the model',
    verifies('shutdown.streams', 'events.error', 'completions.error', 'events.one-end'),
    async () => {
      const { server, streams, upstream } = await startStreaming({ SHUTDOWN_GRACE: '0' })
      const closed = server.close()
      const chat = await readChat(streams[0])
      expect(chat).toMatchObject({ answer: 'Half ', error: { code: 'shutting_down' } })
      expect(chat.frames.at(-1)?.event).toBe('error')
      const completion = await readCompletion(streams[1])
      expect(completion).toMatchObject({ error: { code: 'shutting_down' }, ended: true })
      await closed
      await Promise.all(upstream.requests.map((request) => request.closed))
      expect(upstream.requests.map(({ disconnected }) => disconnected)).toEqual([true, true])
    },
  )

  it(
    'answers new requests on an open connection with 503 in the envelope',
    verifies('shutdown.refuse', 'errors.retry-after'),
    async () => {
      const { server, streams, release } = await startStreaming({ SHUTDOWN_GRACE: '20' })
      const connection = await openConnection(server)
      const late = rawRequest({ path: '/agent' })
      // Half of the second request is there before the server stops, so that its connection is in use.
      connection.send(Buffer.concat([rawRequest({ path: '/health' }), late.subarray(0, 20)]))
      await connection.received(/"status":"ok"/)
      const closed = server.close()
      connection.send(late.subarray(20))
      expect(await connection.closed()).toMatch(
        /HTTP\/1\.1 503 [\s\S]*retry-after: \d+[\s\S]*"code":"shutting_down"/i,
      )
      release()
      await Promise.all(streams.map((stream) => stream.text()))
      await closed
    },
  )
})
