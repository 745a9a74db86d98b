import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { ERRORS, type ErrorCode } from '@agent-server/lib/errors.ts'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { verifies } from '../requirements.ts'
import { evaluationFailures } from '../support/evaluations.ts'
import { type Failure, failureOf } from '../support/failure.ts'
import { startFilled } from '../support/filled-server.ts'
import { openUpload, sendFile } from '../support/forms.ts'
import { isLong, long, onlyLong } from '../support/long.ts'
import { startFakeQdrant } from '../support/qdrant/fake-qdrant.ts'
import { openConnection, rawRequest, toResponse } from '../support/raw-connection.ts'
import { type Script, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { peopleFailures } from '../support/token-issuer.ts'
import { errorReply, hangReply, textReply } from '../support/upstream-replies.ts'

const messages = [{ role: 'user', content: 'Hello?' }]
const MAIN = fileURLToPath(new URL('src/main.ts', ROOT))
// A user namespace lets a test mount a disk of its own without being root; not every system allows it.
const canMount =
  spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).status === 0
/** What the server waits for a database that another program holds, and a little more. */
const BUSY_MS = 20_000

const upstream = await startScriptedUpstream()
const server = await startServer(
  modelAt(upstream, { CHAT_IDLE_TIMEOUT: '1', BODY_LIMIT: '1000', OUTBOUND_ALLOW: '127.0.0.2' }),
)

const chat = async (script: Script) => {
  upstream.always(script)
  return server.request('/chat', { body: { messages } })
}

/** The answer to the last of some requests with a new key. */
const asKey = async (key: object, path: string, body?: unknown, times = 1) => {
  const created = await server.request('/admin/keys', { body: { name: 'A key', ...key } })
  const ask = requester(server.url, ApiKeyCreated.parse(await created.json()).secret)
  for (let time = 1; time < times; time += 1) await ask(path, { body })
  return ask(path, { body })
}

/** For each code a way to meet it; another code than these does not compile. */
const PROVOKED: Record<Exclude<ErrorCode, 'storage_full'>, () => Promise<Response>> = {
  invalid_request: () => server.request('/query', { body: { query: '' } }),
  unauthorized: () => fetch(`${server.url}/agent`),
  origin_not_allowed: () =>
    server.request('/mcp', { body: {}, headers: { origin: 'https://elsewhere.example' } }),
  insufficient_scope: () => asKey({ scopes: ['query'] }, '/metrics'),
  collection_not_allowed: () =>
    asKey({ scopes: ['ingest'], collections: ['a'] }, '/documents', {
      text: 'A text.',
      collection: 'b',
    }),
  not_permitted: async () => {
    const id = await server.ingest({ text: 'A text.', access: ['public'] })
    const headers = { 'agent-user': 'bob' }
    return server.request(`/documents/${id}`, { method: 'DELETE', headers })
  },
  collection_not_found: () => server.request('/collections/unknown'),
  collection_exists: () => asKey({ scopes: ['ingest'] }, '/collections', { name: 'taken' }, 2),
  collection_not_empty: async () => {
    await server.ingest({ text: 'A text.', collection: 'full' })
    return server.request('/collections/full', { method: 'DELETE' })
  },
  fetch_not_allowed: () => server.request('/documents', { body: { url: 'http://10.0.0.1/' } }),
  fetch_failed: () => server.request('/documents', { body: { url: 'http://127.0.0.2:1/' } }),
  rate_limited: async () => {
    const key = { scopes: ['query'], requestsPerMinute: 1 }
    return asKey(key, '/documents', undefined, 2)
  },
  ...peopleFailures(server),
  run_not_found: () => server.request('/admin/runs/unknown'),
  key_not_found: () => server.request('/admin/keys/unknown', { method: 'DELETE' }),
  too_many_keys: async () => {
    const key = { name: 'x', scopes: ['query' as const], createdAt: 0, digest: 'x' }
    const full = await startFilled(async ({ keys }) => {
      for (let id = 0; id < 200; id++) await keys.add({ ...key, id: `${id}` }, 200)
    })
    return full.request('/admin/keys', { body: { name: 'One more', scopes: ['query'] } })
  },
  document_not_found: () => server.request('/documents/unknown'),
  file_not_found: async () => {
    const id = await server.ingest({ text: 'Owls.' })
    return server.request(`/documents/${id}/file`)
  },
  artifact_not_found: () => server.request('/artifacts/unknown'),
  connection_not_found: () => server.request('/agent/mcp/unknown/test', { body: {} }),
  conversation_not_found: () => server.request('/v1/conversations/unknown'),
  item_not_found: async () => {
    const { id } = Conversation.parse(
      await (await server.request('/v1/conversations', { body: {} })).json(),
    )
    return server.request(`/v1/conversations/${id}/items/unknown`)
  },
  conversation_full: async () => {
    const of = { id: 'full', owner: undefined }
    const items = Array.from({ length: 4_000 }, (_, id) => ({ id: `${id}`, json: '{}' }))
    const full = await startFilled(async ({ conversations }) => {
      await conversations.create({ ...of, metadata: {} })
      await conversations.add(of, { items })
    })
    return full.request('/v1/conversations/full/items', {
      body: { items: [{ role: 'user', content: 'One more' }] },
    })
  },
  feedback_not_found: () => server.request('/feedback/unknown', { method: 'DELETE' }),
  ...evaluationFailures(server),
  response_not_found: () => server.request('/v1/responses/unknown'),
  batch_not_found: () =>
    server.request(`/v1/vector_stores/vs_birds/file_batches/vsfb_${'0'.repeat(32)}`),
  version_not_found: () => server.request(`/admin/agent/versions/${'0'.repeat(64)}`),
  edit_conflict: () =>
    server.request('/admin/agent', {
      method: 'PUT',
      body: { text: '{}', basedOn: '0'.repeat(64) },
    }),
  not_startable: async () => {
    const file = await writeAgentFile({})
    const replaceable = await startServer({ AGENT_CONFIG: file }, { restart: () => undefined })
    await writeFile(file, '{')
    return replaceable.request('/admin/restart', { method: 'POST' })
  },
  not_writable: async () => {
    const path = join(await temporaryDirectory(), 'gone', 'agent.json')
    const homeless = await startServer({ AGENT_CONFIG: path })
    const body = { text: '{}', basedOn: hash('sha256', '') }
    return homeless.request('/admin/agent', { method: 'PUT', body })
  },
  not_launched: async () => {
    const command = [process.execPath, MAIN, 'stopped'] as const
    const stopped = await startServerProcess({}, { until: 'listening', command })
    return stopped.request('/query', { body: { query: 'x' } })
  },
  model_not_found: () => server.request('/v1/models/unknown'),
  route_not_found: () => server.request('/unknown'),
  method_not_allowed: () => server.request('/query'),
  request_timeout: async () => {
    const impatient = await startServer(
      {},
      {
        beforeListen: ({ server: http }) =>
          Object.assign(http, {
            headersTimeout: 100,
            requestTimeout: 100,
            connectionsCheckingInterval: 20,
          }),
      },
    )
    const connection = await openConnection(impatient)
    connection.send('GET /health HTTP/1.1\r\nhost: x\r\n')
    return toResponse(await connection.closed())
  },
  document_not_failed: async () => {
    const id = await server.ingest({ text: 'A text.' })
    return server.request(`/documents/${id}/retry`, { method: 'POST' })
  },
  document_not_ready: async () => {
    const sent = await sendFile(server, { name: 'sound.wav', bytes: 'RIFF' })
    const { id } = DocumentCreated.parse(await sent.json())
    return server.request(`/documents/${id}`, { method: 'PATCH', body: { title: 'Sound' } })
  },
  idempotency_conflict: async () => {
    const headers = { 'idempotency-key': 'one' }
    await server.request('/documents', { headers, body: { text: 'A text.' } })
    return server.request('/documents', { headers, body: { text: 'Another.' } })
  },
  body_too_large: () => server.request('/query', { body: { query: 'x'.repeat(1_000) } }),
  unsupported_media_type: () =>
    server.request('/query', { body: 'x', headers: { 'content-type': 'text/plain' } }),
  range_not_satisfiable: async () => {
    const id = await server.ingest({ text: 'Short.' })
    return server.request(`/documents/${id}/text`, { headers: { range: 'bytes=99-' } })
  },
  queue_full: async () => {
    const idle = await startServer({ INGEST_QUEUE_LIMIT: '1' }, { begin: false })
    await idle.request('/documents', { body: { text: 'One.' } })
    return idle.request('/documents', { body: { text: 'Two.' } })
  },
  too_many_uploads: async () => {
    const uploads = Array.from({ length: 17 }, () => openUpload(server))
    const { status, headers, body } = await Promise.any(uploads.map(({ answer }) => answer))
    const refused = await new Response(body).text()
    for (const { leave } of uploads) leave()
    return new Response(refused, { status, headers })
  },
  too_many_requests: async () => {
    const small = await startServer({ BODY_LIMIT: '1000' })
    const begun = { path: '/query', headers: ['content-length: 1000'], body: '{' }
    const connections = await Promise.all(Array.from({ length: 64 }, () => openConnection(small)))
    for (const { send } of connections) send(rawRequest(begun))
    const body = { query: 'x' }
    const refused = async () => {
      const response = await small.request('/query', { body })
      return response.status === 429 ? response : undefined
    }
    const response = await vi.waitUntil(refused, { timeout: BUSY_MS })
    for (const { vanish } of connections) vanish()
    await expect.poll(async () => (await small.request('/query', { body })).ok).toBe(true)
    return response
  },
  sandbox_unavailable: async () => {
    const file = await writeAgentFile({ sandbox: 'none' })
    const without = await startServer({ AGENT_CONFIG: file })
    return without.request('/agent/sandbox/verify', { method: 'POST' })
  },
  too_many_attempts: async () => {
    const open = await startServer()
    const headers = { origin: open.url, 'x-agent-server-web-ui': '1' }
    const wrong = () => open.request('/ui/session', { headers, body: { key: 'a-wrong-key' } })
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await wrong()).status).toBe(401)
    return wrong()
  },
  web_ui_unavailable: async () => {
    const broken = await startServer({}, { webUiSources: await temporaryDirectory() })
    return broken.request('/ui/assets/web-ui.js')
  },
  too_many_runs: async () => {
    const narrow = await startServer(modelAt(upstream, { CHAT_CONCURRENCY: '1' }))
    upstream.script(hangReply())
    const arrived = upstream.nextRequest()
    const leaving = new AbortController()
    const first = narrow.request('/chat', { body: { messages }, signal: leaving.signal })
    await arrived
    const response = await narrow.request('/chat', { body: { messages } })
    leaving.abort()
    await expect(first).rejects.toThrow()
    return response
  },
  internal: async () => {
    const beforeListen = (app: FastifyInstance) => {
      app.get('/faulty', { config: { public: true } }, () => {
        throw new Error('EISDIR: illegal operation on a directory, read agent.json')
      })
    }
    const faulty = await startServer({}, { beforeListen })
    return faulty.request('/faulty')
  },
  upstream_failed: () => chat(errorReply(500, 'Out of order')),
  upstream_refused: () => chat(errorReply(400, 'This is too much')),
  context_length_exceeded: () => chat(errorReply(400, 'prompt is too long')),
  upstream_unauthorized: () => chat(errorReply(401, 'Who are you?')),
  upstream_model_not_found: () => chat(errorReply(404, 'No such model')),
  upstream_rate_limited: () => chat(errorReply(429, 'Slow down', { 'retry-after': '17' })),
  upstream_timeout: () => chat(hangReply()),
  index_unavailable: async () => {
    const qdrant = await startFakeQdrant()
    const shared = await startServer({ QDRANT_URL: qdrant.url })
    qdrant.mishap = () => ({ status: 500 })
    return shared.request('/query', { body: { query: 'x' } })
  },
  index_not_ready: async () => {
    const starting = await startServer({}, { begin: false })
    return starting.request('/query', { body: { query: 'x' } })
  },
  store_unavailable: async () => {
    const directory = await temporaryDirectory()
    const held = await startServer({ DATA_DIR: directory })
    // Waits for what the server still writes as it begins.
    const other = new DatabaseSync(join(directory, 'agent-server.db'), { timeout: BUSY_MS })
    other.exec('BEGIN IMMEDIATE')
    const response = await held.request('/documents', { body: { text: 'A text.' } })
    other.close()
    return response
  },
  shutting_down: async () => {
    const stopping = await startServer(modelAt(upstream, { SHUTDOWN_GRACE: '0' }))
    upstream.script(hangReply())
    const arrived = upstream.nextRequest()
    const response = stopping.request('/chat', { body: { messages } })
    await arrived
    const closed = stopping.close()
    const answer = await response
    await closed
    return answer
  },
}

/** What takes a second server. */
const LONG: readonly string[] = [
  'conversation_full',
  'index_not_ready',
  'index_unavailable',
  'internal',
  'not_launched',
  'not_startable',
  'not_writable',
  'queue_full',
  'request_timeout',
  'sandbox_unavailable',
  'shutting_down',
  'store_unavailable',
  'too_many_attempts',
  'too_many_keys',
  'too_many_requests',
  'too_many_runs',
  'web_ui_unavailable',
]

/** What passes by itself, and says when. */
const PASSING: readonly string[] = [
  'issuer_unavailable',
  'index_unavailable',
  'queue_full',
  'too_many_requests',
  'too_many_uploads',
  'too_many_attempts',
  'rate_limited',
  'too_many_runs',
  'upstream_rate_limited',
  'index_not_ready',
  'shutting_down',
]

describe('Each error code', () => {
  it.each(Object.entries(PROVOKED).filter(([code]) => LONG.includes(code) === isLong))(
    '%s is met with its status and type, in the one envelope',
    {
      ...long,
      ...verifies('errors.envelope', 'errors.table', 'errors.retry-after', 'errors.request-id'),
      timeout: BUSY_MS,
    },
    async (code, provoke) => {
      const failure = await failureOf(await provoke())
      expectFromTable(failure, code)
      const retryAfter = Number(failure.headers.get('retry-after') ?? Number.NaN)
      expect(retryAfter > 0).toBe(PASSING.includes(code))
      expect(failure.requestId).toBe(failure.headers.get('x-request-id'))
    },
  )

  it.skipIf(!(isLong && canMount))(
    'storage_full is met on a full disk (needs the right to mount one)',
    { ...onlyLong, ...verifies('errors.table'), timeout: BUSY_MS },
    async () => {
      const directory = await temporaryDirectory()
      await mkdir(join(directory, 'data'))
      const mount = 'mount -t tmpfs -o size=64m tmpfs data && exec "$1" "$2"'
      const command = ['unshare', '-Urm', 'sh', '-c', mount, 'sh', process.execPath, MAIN] as const
      const small = await startServerProcess({}, { directory, command })
      const body = { text: 'word '.repeat(500_000) }
      let response = await small.request('/documents', { body })
      for (let sent = 1; response.ok && sent < 100; sent += 1) {
        await response.body?.cancel()
        response = await small.request('/documents', { body })
      }
      expectFromTable(await failureOf(response), 'storage_full')
      expect((await fetch(`${small.url}/health`)).status).toBe(200)
    },
  )
})

describe('An error', () => {
  it('of the server tells nothing of its cause', verifies('errors.hidden'), async () => {
    const failure = await failureOf(await PROVOKED.internal())
    expect(failure.message).toBe('Internal error')
    expect(JSON.stringify(failure)).not.toMatch(/EISDIR|agent\.json|node:/)
  })

  it(
    'passes on how long the chat model asks to wait',
    verifies('errors.retry-after', 'upstream.status'),
    async () => {
      const failure = await failureOf(await PROVOKED.upstream_rate_limited())
      expect(failure.headers.get('retry-after')).toBe('17')
    },
  )

  it('of an answer that has no reader left hurts nobody', verifies('input.vanishing'), async () => {
    upstream.script(textReply('Fine.'))
    const response = await server.request('/chat', { body: { messages } })
    await response.body?.cancel()
    expect((await server.request('/agent')).status).toBe(200)
  })
})

function expectFromTable({ code, status, type }: Failure, expected: string): void {
  const row = Object.entries(ERRORS).find(([name]) => name === expected)?.[1]
  expect({ code, status, type }).toEqual({ code: expected, ...row })
}
