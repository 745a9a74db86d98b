import {
  ApiKeyCreated,
  ApiKeyList,
  SCOPES,
  type Scope,
} from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { ask } from '../support/chat-reader.ts'
import {
  type ContractOperation,
  fillPath,
  operationsOf,
  readContract,
} from '../support/contract.ts'
import { failureOf } from '../support/failure.ts'
import { sendFile } from '../support/forms.ts'
import { long, someOf } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import {
  type RecordedRequest,
  type Script,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, type TestServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

/** Nowhere but in what the keys of these tests may not see. */
const SECRET = /quagga/i
const HIDDEN = 'hidden-one'
const DONE = textReply('Done.')

interface Holder {
  id: string
  /** What is asked with the key. */
  request: TestServer['request']
  /** The server as its holder has it. */
  server: TestServer
}

const played = (script: Script, request: RecordedRequest) =>
  typeof script === 'function' ? script(request) : script

async function makeKey(
  wanted: object,
  by: TestServer['request'] = server.request,
): Promise<Holder> {
  const created = await by('/admin/keys', { body: { name: 'A key', ...wanted } })
  expect(created.status).toBe(201)
  const { id, secret } = ApiKeyCreated.parse(await created.json())
  const request = requester(server.url, secret)
  return { id, request, server: { ...server, request } }
}

const listKeys = async () =>
  ApiKeyList.parse(await (await server.request('/admin/keys')).json()).keys

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const operations = operationsOf(await readContract(server))
/** Sees `red` and `blue`, and may do all that a key with collections may. */
const red = await makeKey({ scopes: ['query', 'chat', 'ingest'], collections: ['red', 'blue'] })
const own = await server.ingest({ title: 'Red owl', text: 'Owls hoot.', collection: 'red' })
await server.request(`/documents/${HIDDEN}?wait=20`, {
  method: 'PUT',
  body: { title: 'Quagga', text: 'The quagga of owls. {{quagga}}', collection: 'green' },
})
const place = { before: { collection: 'green' } }
await sendFile(server, { name: 'quagga.csv', bytes: 'quagga\n1\n', ...place })

describe('every operation', () => {
  const scopesOf = ({ security = [] }: ContractOperation) => security.flatMap(({ key = [] }) => key)
  const answerTo = ({ method, path }: ContractOperation, { request }: Holder) =>
    request(fillPath(path), { method, ...(method === 'POST' && { body: {} }) })

  it('that is not public names its scopes in the contract', () => {
    const unscoped = operations.filter((each) => !each.isPublic && scopesOf(each).length === 0)
    expect(unscoped.map(({ path }) => path)).toEqual([])
  })

  it.each(someOf(SCOPES, 2))(
    'refuses a key with %s alone where that is not enough',
    long,
    async (scope: Scope) => {
      const holder = await makeKey({ scopes: [scope] })
      for (const operation of operations.filter(({ isPublic }) => !isPublic)) {
        if (scopesOf(operation).includes(scope)) continue
        const failure = await failureOf(await answerTo(operation, holder))
        expect(failure, operation.path).toMatchObject({ status: 403, code: 'insufficient_scope' })
        for (const named of scopesOf(operation)) expect(failure.message).toContain(`"${named}"`)
      }
    },
  )

  it('takes a key with one of its scopes', async () => {
    const { request } = await makeKey({ scopes: ['query'] })
    expect((await request('/query', { body: { query: 'owls' } })).status).toBe(200)
    expect((await request('/documents')).status).toBe(200)
    const unknown = await failureOf(await request('/unknown'))
    expect(unknown.code).toBe('route_not_found')
  })
})

describe('a key', () => {
  it('is shown once, and kept nowhere but as a digest', async () => {
    const created = await server.request('/admin/keys', {
      body: { name: 'Once', scopes: ['query'] },
    })
    const { id, secret } = ApiKeyCreated.parse(await created.json())
    expect(created.headers.get('cache-control')).toBe('no-store')
    expect(secret).toMatch(/^ask_[0-9a-f]{12}_[\w-]{43}$/)
    const listed = await (await server.request('/admin/keys')).text()
    expect(listed).toContain(id)
    expect(listed).not.toContain(secret.slice(-43))
  })

  it('is refused when it is revoked, or has another secret', async () => {
    const { id, request } = await makeKey({ scopes: ['query'] })
    expect((await request('/documents')).status).toBe(200)
    await server.request(`/admin/keys/${id}`, { method: 'DELETE' })
    expect(await failureOf(await request('/documents'))).toMatchObject({
      status: 401,
      code: 'unauthorized',
    })
    const wrong = requester(server.url, `ask_${red.id}_${'A'.repeat(43)}`)
    expect((await wrong('/documents')).status).toBe(401)
  })

  it.each([
    ['a time that is over', { scopes: ['query'], expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['admin within collections', { scopes: ['admin'], collections: ['red'] }, 'collections'],
    ['a name that would break a line', { name: 'a\nb', scopes: ['query'] }, 'name'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['an unknown scope', { scopes: ['root'] }, 'scopes.0'],
    ['no requests', { scopes: ['query'], requestsPerMinute: 0 }, 'requestsPerMinute'],
  ])('is not made with %s', async (_case, wanted, param) => {
    const refused = await server.request('/admin/keys', { body: { name: 'A key', ...wanted } })
    expect(await failureOf(refused)).toMatchObject({ status: 400, param })
  })

  it('may make so many requests a minute, and is told when to come again', async () => {
    const { request } = await makeKey({ scopes: ['query'], requestsPerMinute: 1 })
    expect((await request('/documents')).status).toBe(200)
    const refused = await request('/documents')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await failureOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' })
  })

  it('may use so many tokens a day, and is listed with them', async () => {
    const { id, request } = await makeKey({ scopes: ['chat'], tokensPerDay: 30 })
    upstream.always(textReply('Owls.', { usage: { prompt_tokens: 25, completion_tokens: 5 } }))
    const body = { messages: [{ role: 'user', content: 'Who?' }], stream: false }
    expect((await request('/v1/chat/completions', { body })).status).toBe(200)
    const refused = await request('/v1/chat/completions', { body })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await failureOf(refused)).toMatchObject({
      code: 'rate_limited',
      type: 'rate_limit_error',
    })
    expect((await listKeys()).find((key) => key.id === id)?.tokensToday).toBe(30)
  })

  it('may use no more of them by asking many questions at once', async () => {
    const { id, request } = await makeKey({ scopes: ['chat'], tokensPerDay: 1_000 })
    upstream.always(textReply('Owls.', { usage: { prompt_tokens: 580, completion_tokens: 8 } }))
    const body = { messages: [{ role: 'user', content: 'Who?' }], stream: false }
    const ask = async () => (await request('/v1/chat/completions', { body })).status
    const statuses = await Promise.all(Array.from({ length: 60 }, ask))
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(2)
    expect(statuses).toContain(200)
    expect((await listKeys()).find((key) => key.id === id)?.tokensToday).toBeLessThan(1_600)
  })

  it('does not count on the web UI’s path', async () => {
    expect((await red.request('/ui/api/documents')).status).not.toBe(200)
  })
})

describe('a key with admin', () => {
  it('makes narrower keys alone, which go with it', async () => {
    const later = new Date(Date.now() + 86_400_000).toISOString()
    const admin = await makeKey({ scopes: ['admin', 'query'], expiresAt: later })
    const narrower = { scopes: ['query'], expiresAt: later }
    const refusals = [
      { ...narrower, scopes: ['admin'] },
      { ...narrower, scopes: ['chat'] },
      { scopes: ['query'] },
    ]
    for (const wanted of refusals) {
      const refused = await admin.request('/admin/keys', { body: { name: 'Wider', ...wanted } })
      expect([400, 403]).toContain(refused.status)
    }
    const made = await makeKey(narrower, admin.request)
    expect((await made.request('/documents')).status).toBe(200)
    expect((await admin.request(`/admin/keys/${admin.id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await made.request('/documents')).status).toBe(401)
  })

  it('neither changes nor moves the SERVER_API_KEY, and does not see it', async () => {
    const { request } = await makeKey({ scopes: ['admin'] })
    const { digest: basedOn } = Object(await (await request('/admin/settings')).json())
    for (const change of [
      { set: { SERVER_API_KEY: 'another-key-of-my-own' } },
      { move: { SERVER_API_KEY: 'AGENT_CONFIG' } },
      { clear: ['SERVER_API_KEY'] },
    ]) {
      const refused = await request('/admin/settings', {
        method: 'PATCH',
        body: { basedOn, ...change },
      })
      expect(await failureOf(refused)).toMatchObject({ status: 403, code: 'insufficient_scope' })
    }
  })
})

describe('a key with collections', () => {
  it('sees no document of others, however it asks', async () => {
    const asked = await Promise.all([
      red.request('/query', { body: { query: 'quagga owls' } }),
      red.request('/query', { body: { query: 'quagga', collection: 'green' } }),
      red.request('/query', {
        body: { query: 'quagga', filter: { not: { field: 'collection', eq: 'x' } } },
      }),
      red.request('/documents?total=true'),
      red.request('/documents?title=quagga'),
      red.request('/documents?collection=green'),
      red.request(`/documents/${HIDDEN}`),
      red.request(`/documents/${HIDDEN}/text`),
      red.request(`/documents/${HIDDEN}/chunks`),
      red.request(`/documents/${HIDDEN}/file`),
      red.request(`/v1/files/${HIDDEN}`),
      red.request(`/v1/vector_stores/corpus/files/${HIDDEN}`),
      red.request('/v1/vector_stores'),
      red.request('/v1/vector_stores/corpus/search', { body: { query: 'quagga owls' } }),
      red.request('/v1/vector_stores/vs_green/search', { body: { query: 'quagga' } }),
      red.request('/v1/models'),
    ])
    for (const response of asked)
      expect(await response.text()).not.toMatch(/quagga of|"Quagga"|green"/)
    const total = Object(await (await red.request('/documents?total=true')).json())
    expect(total).toMatchObject({ total: 1, documents: [{ id: own }] })
    const unknown = await failureOf(await red.request('/documents/unknown'))
    const hidden = await failureOf(await red.request(`/documents/${HIDDEN}`))
    expect([hidden.status, hidden.code, hidden.param]).toEqual([404, unknown.code, unknown.param])
    expect(hidden.message).toBe(unknown.message.replace('unknown', HIDDEN))
  })

  it.each<[string, object]>([
    ['semantic_search', { query: 'quagga' }],
    ['read_document', { document: HIDDEN }],
    ['lookup_data', {}],
    ['list_tables', {}],
    ['analyse_corpus', { task: 'list' }],
    ['fill_form', { documentId: HIDDEN }],
  ])('learns nothing by the tool %s', async (name, input) => {
    let output = ''
    const called = toolCallReply({ name, arguments: input })
    upstream.always((request) => {
      const last = modelRequest(request).messages.at(-1)
      if (last?.role !== 'tool') return played(called, request)
      output = String(last.content)
      return played(DONE, request)
    })
    await ask(red.server, 'What of owls?')
    expect(output).not.toBe('')
    expect(output.replaceAll(JSON.stringify(input), '').replace(/"quagga"/g, '')).not.toMatch(
      SECRET,
    )
  })

  it('writes into them alone, also by metadata and by what it patches', async () => {
    const refused = await Promise.all([
      red.request('/documents', { body: { text: 'x', collection: 'green' } }),
      red.request('/documents', { body: { text: 'x', metadata: { collection: 'green' } } }),
      red.request('/documents', { body: { text: 'x' } }),
      red.request('/documents', { body: { text: 'x', collection: 'default' } }),
      red.request('/documents/batch', { body: [{ text: 'x', collection: 'green' }] }),
      red.request(`/documents/${own}`, {
        method: 'PATCH',
        body: { metadata: { collection: 'green' } },
      }),
      red.request(`/documents/${own}`, {
        method: 'PATCH',
        body: { metadata: { collection: null } },
      }),
      red.request(`/v1/vector_stores/vs_green/files`, { body: { file_id: own } }),
      red.request('/v1/vector_stores/vs_green/file_batches', { body: { file_ids: [own] } }),
      red.request(`/v1/vector_stores/vs_red/files/${own}`, { method: 'DELETE' }),
    ])
    for (const response of refused) {
      expect(await failureOf(response)).toMatchObject({
        status: 403,
        code: 'collection_not_allowed',
      })
    }
    const moved = await red.request(`/documents/${own}`, {
      method: 'PATCH',
      body: { metadata: { collection: 'blue' } },
    })
    expect(moved.status).toBe(200)
  })

  it('changes no document of others: it is as if there was none', async () => {
    const refused = await Promise.all([
      red.request(`/documents/${HIDDEN}`, { method: 'PATCH', body: { metadata: { a: 1 } } }),
      red.request(`/documents/${HIDDEN}`, { method: 'DELETE' }),
      red.request(`/documents/${HIDDEN}/retry`, { method: 'POST' }),
      red.request(`/v1/files/${HIDDEN}`, { method: 'DELETE' }),
      red.request('/v1/vector_stores/vs_red/files', { body: { file_id: HIDDEN } }),
      red.request('/v1/vector_stores/vs_red/file_batches', { body: { file_ids: [HIDDEN] } }),
    ])
    for (const response of refused)
      expect((await failureOf(response)).code).toBe('document_not_found')
    const counted = await red.request('/documents?title=quagga&dryRun=true', { method: 'DELETE' })
    expect(await counted.json()).toMatchObject({ matched: 0 })
    expect(Object(await (await server.request(`/documents/${HIDDEN}`)).json()).title).toBe('Quagga')
  })

  it('without a word puts what it sends into its only collection', async () => {
    const { request } = await makeKey({ scopes: ['ingest', 'query'], collections: ['yellow'] })
    const { id } = Object(
      await (await request('/documents', { body: { text: 'A lemon.' } })).json(),
    )
    expect(await (await server.request(`/documents/${id}`)).json()).toMatchObject({
      metadata: { collection: 'yellow' },
    })
    await server.request(`/documents/${id}`, { method: 'DELETE' })
  })

  it('does not share idempotency keys with others', async () => {
    const headers = { 'idempotency-key': 'the-same' }
    const body = { text: 'A text.', collection: 'red' }
    const mine = Object(await (await red.request('/documents', { headers, body })).json())
    const theirs = Object(await (await server.request('/documents', { headers, body })).json())
    const again = Object(await (await red.request('/documents', { headers, body })).json())
    expect(theirs.id).not.toBe(mine.id)
    expect(again.id).toBe(mine.id)
  })

  it('is told nothing of the whole: neither counts nor collections', async () => {
    const readiness = Object(await (await red.request('/readiness')).json())
    expect(readiness.documents).toBeUndefined()
    expect((await red.request('/metrics')).status).toBe(403)
  })
})

describe('what is kept of one key', () => {
  it('is no other key’s: responses and artifacts', async () => {
    const other = await makeKey({ scopes: ['chat'] })
    const values = { name: { value: 'Owl', source: 'user' } }
    const called = toolCallReply({
      name: 'fill_form',
      arguments: { markdown: '{{name}}', values },
    })
    upstream.always((request) =>
      played(modelRequest(request).messages.at(-1)?.role === 'tool' ? DONE : called, request),
    )
    const { done } = await ask(red.server, 'Fill it, please')
    const path = done?.artifacts?.[0]?.url ?? ''
    const statuses = async (asked: string) =>
      Promise.all([red, other, server].map(async ({ request }) => (await request(asked)).status))
    expect(await statuses(path)).toEqual([200, 404, 200])

    upstream.always(textReply('Owls.'))
    const made = await red.request('/v1/responses', { body: { input: 'Who hoots?' } })
    const { id } = Object(await made.json())
    expect(await statuses(`/v1/responses/${id}`)).toEqual([200, 404, 200])
    const body = { input: 'And then?', previous_response_id: id }
    expect((await other.request('/v1/responses', { body })).status).toBe(400)
    expect((await other.request(`/v1/responses/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await red.request('/v1/responses', { body })).status).toBe(200)
  })
})
