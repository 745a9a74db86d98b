import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { AgentServer, AgentServerError } from '../../packages/client/src/agent-server.ts'
import { clientOf } from '../support/client.ts'
import { type Fault, startHttpProxy } from '../support/http-proxy.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { freePort } from '../support/server-process.ts'
import { errorReply } from '../support/upstream-replies.ts'

const QUESTION = { messages: [{ role: 'user' as const, content: 'When do owls hunt?' }] }

const server = await startServer({ BODY_LIMIT: '5000' })

/** What a call throws. */
async function failureOf(call: PromiseLike<unknown>): Promise<AgentServerError> {
  try {
    await call
  } catch (error) {
    if (error instanceof AgentServerError) return error
    throw error
  }
  throw new Error('It did not fail')
}

/** The server with a proxy before it that fails once in each of the ways given. */
async function behind(...faults: Fault[]) {
  const proxy = await startHttpProxy(server)
  proxy.fail(...faults)
  return { proxy, client: clientOf(proxy) }
}

describe('What the server refuses', () => {
  it.each<[string, string, (client: AgentServer) => PromiseLike<unknown>, object]>([
    [
      'a field out of its bounds',
      'InvalidRequestError',
      (client) => client.query({ query: 'x', topK: 101 }),
      { status: 400, code: 'invalid_request', param: 'topK' },
    ],
    [
      'what there is not',
      'NotFoundError',
      (client) => client.documents.get('none'),
      { status: 404, code: 'document_not_found' },
    ],
    [
      'an artifact that is gone',
      'NotFoundError',
      (client) => client.artifacts.download('art_none'),
      { status: 404, code: 'artifact_not_found' },
    ],
    [
      'a connection that is not configured',
      'NotFoundError',
      (client) => client.agent.mcp.test('none'),
      { status: 404, code: 'connection_not_found' },
    ],
    [
      'a body that is too large',
      'InvalidRequestError',
      (client) => client.documents.create({ text: 'owl '.repeat(3_000) }),
      { status: 413, code: 'body_too_large' },
    ],
  ])('%s is told as %s', async (_what, name, call, facts) => {
    const failure = await failureOf(call(clientOf(server)))
    expect(failure).toMatchObject({ name, ...facts, requestId: expect.stringMatching(/./) })
  })

  it('a wrong key is told as AuthenticationError, and is nowhere in it', async () => {
    const apiKey = 'wrong-key-of-somebody'
    const client = clientOf(server, { apiKey })
    const failure = await failureOf(client.agent.get())
    expect(failure).toMatchObject({
      name: 'AuthenticationError',
      status: 401,
      code: 'unauthorized',
    })
    expect(`${failure.stack}${JSON.stringify(failure)}`).not.toContain(apiKey)
  })

  it('a full queue is told as RateLimitError, with the time to come back', async () => {
    const full = await startServer({ INGEST_QUEUE_LIMIT: '1' }, { begin: false })
    const client = clientOf(full, { maxRetries: 0 })
    await client.documents.create({ text: 'Owls hunt.' })
    const failure = await failureOf(client.documents.create({ text: 'Herons fish.' }))
    expect(failure).toMatchObject({ name: 'RateLimitError', status: 429, code: 'queue_full' })
    expect(failure.retryAfter).toBeGreaterThan(0)
  })

  it('a chat model that refuses is told as UpstreamError', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always({
      status: 401,
      headers: { 'content-type': 'application/json' },
      steps: [{ send: '{}' }],
    })
    const client = clientOf(await startServer(modelAt(upstream)), { maxRetries: 0 })
    expect(await failureOf(client.chat(QUESTION).result())).toMatchObject({
      name: 'UpstreamError',
      status: 502,
      code: 'upstream_unauthorized',
    })
  })

  it('a chat model with too many requests is told as RateLimitError', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(errorReply(429, 'Too many requests'))
    const client = clientOf(await startServer(modelAt(upstream)), { maxRetries: 0 })
    expect(await failureOf(client.chat(QUESTION).result())).toMatchObject({
      name: 'RateLimitError',
      code: 'upstream_rate_limited',
    })
  })

  it('an index that is not ready is told as ServerError', async () => {
    const client = clientOf(await startServer({}, { begin: false }), { maxRetries: 0 })
    expect(await failureOf(client.query({ query: 'owls' }))).toMatchObject({
      name: 'ServerError',
      status: 503,
      code: 'index_not_ready',
    })
  })
})

describe('What stands before the server', () => {
  it.each<[string, Fault, object]>([
    [
      'forbids',
      { status: 403, body: '<html>no</html>' },
      { name: 'PermissionDeniedError', status: 403, message: 'The server answered 403' },
    ],
    ['refuses by status alone', { status: 418 }, { name: 'InvalidRequestError', status: 418 }],
    [
      'fails by status alone',
      { status: 500 },
      { name: 'ServerError', status: 500, code: undefined },
    ],
    [
      'answers a page with 200',
      { status: 200, body: '<html>Welcome</html>' },
      { name: 'ServerError', status: 200, message: expect.stringMatching(/not JSON/) },
    ],
  ])('is told from the server where it %s', async (_how, fault, facts) => {
    const { proxy } = await behind(fault)
    expect(await failureOf(clientOf(proxy, { maxRetries: 0 }).agent.get())).toMatchObject(facts)
  })

  it('may repeat the key, which no error does', async () => {
    const body = JSON.stringify({ error: { message: `Bad header: Bearer ${TEST_KEY}` } })
    const { client } = await behind({ status: 400, body })
    expect((await failureOf(client.agent.get())).message).toBe('Bad header: Bearer [key]')
  })

  it('is read no further than a refusal can be long', async () => {
    const { client } = await behind({ status: 400, body: 'x'.repeat(5_000_000) })
    expect((await failureOf(client.agent.get())).message).toBe('The server answered 400')
  })
})

describe('A server that is not there', () => {
  it('is told as ConnectionError, with the cause', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const client = clientOf({ url }, { maxRetries: 0 })
    const failure = await failureOf(client.agent.get())
    expect(failure).toMatchObject({ name: 'ConnectionError', status: undefined })
    expect(failure.message).toMatch(new RegExp(`^GET ${url}/agent: .+ \\(ECONNREFUSED\\)$`))
    expect(failure.cause).toBeInstanceOf(Error)
    expect(failure.stack).not.toContain(TEST_KEY)
  })

  it('and one that is silent is told as TimeoutError', async () => {
    const { proxy } = await behind('hang')
    const client = clientOf(proxy, { maxRetries: 0, timeout: 100 })
    expect(await failureOf(client.agent.get())).toMatchObject({ name: 'TimeoutError' })
  })
})

describe('What may pass by itself', () => {
  it.each<[string, Fault]>([
    ['a broken connection', 'refuse'],
    ['a lost answer', 'lose'],
    ['half an answer', { cutAfter: 20 }],
    ['408', { status: 408 }],
    ['409 that says when', { status: 409, headers: { 'retry-after': '0' } }],
    ['429', { status: 429, headers: { 'retry-after': '0' } }],
    ['500', { status: 500 }],
    ['503 until a date', { status: 503, headers: { 'retry-after': new Date(0).toUTCString() } }],
  ])('is tried again: %s', async (_what, fault) => {
    const { proxy, client } = await behind(fault)
    expect((await client.agent.get()).name).toBe('agent')
    expect(proxy.requests).toHaveLength(2)
  })

  it.each<[string, Fault]>([
    ['400', { status: 400 }],
    ['401', { status: 401 }],
    ['404', { status: 404 }],
    ['409 that says nothing', { status: 409 }],
    ['429 for longer than a minute', { status: 429, headers: { 'retry-after': '3600' } }],
  ])('is told from what does not: %s', async (_what, fault) => {
    const { proxy, client } = await behind(fault)
    await failureOf(client.agent.get())
    expect(proxy.requests).toHaveLength(1)
  })

  it('is tried so often as a client, or a call, says', async () => {
    const again: Fault[] = Array.from({ length: 9 }, () => ({
      status: 503,
      headers: { 'retry-after': '0' },
    }))
    const { proxy, client } = await behind(...again)
    await failureOf(client.agent.get())
    expect(proxy.requests).toHaveLength(3)
    await failureOf(client.agent.get({ maxRetries: 0 }))
    expect(proxy.requests).toHaveLength(4)
    expect(await client.agent.get({ maxRetries: 5 })).toBeDefined()
  })

  it('makes no second document: a repeated POST carries the key of the first', async () => {
    const before = (await Array.fromAsync(clientOf(server).documents.list())).length
    const { proxy, client } = await behind('lose', 'lose')
    await client.documents.create({ text: 'Owls hunt at night.' })
    const keys = proxy.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([keys[0], keys[0], keys[0]])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    proxy.fail('lose')
    await client.documents.batch([{ text: 'Herons fish.' }, { text: 'Ducks swim.' }])
    proxy.fail('lose')
    await client.documents.upload(new File(['Geese fly.'], 'geese.txt'))
    expect(await Array.fromAsync(client.documents.list())).toHaveLength(before + 4)
  })

  it('deletes once: what is gone when it is asked again was deleted by the lost attempt', async () => {
    const { proxy, client } = await behind()
    const { id } = await client.documents.create({ text: 'Owls hunt at night.' })
    proxy.fail('lose')
    expect(await client.documents.delete(id)).toBeUndefined()
  })

  it('is not tried again where a tool was called, or a stream was sent', async () => {
    const { proxy, client } = await behind('refuse', 'refuse')
    await failureOf(client.agent.mcp.test('none', { tool: 'pay' }))
    await failureOf(client.documents.upload(new Blob(['Owls.']).stream(), { name: 'owls.txt' }))
    expect(proxy.requests).toHaveLength(2)
  })
})

describe('A caller who aborts', () => {
  it('ends a call at once, and none is made after it', async () => {
    const { proxy, client } = await behind('hang')
    const stop = new AbortController()
    const call = client.agent.get({ signal: stop.signal })
    await expect.poll(() => proxy.requests.length).toBe(1)
    const reason = new Error('enough')
    stop.abort(reason)
    expect(await failureOf(call)).toMatchObject({ name: 'AbortError', cause: reason })
    expect(await failureOf(client.agent.get({ signal: stop.signal }))).toMatchObject({
      name: 'AbortError',
    })
    expect(proxy.requests).toHaveLength(1)
  })

  it('ends the wait before a retry, too', async () => {
    const { proxy, client } = await behind({ status: 503, headers: { 'retry-after': '30' } })
    const stop = new AbortController()
    const call = client.agent.get({ signal: stop.signal })
    await expect.poll(() => proxy.requests.length).toBe(1)
    stop.abort()
    expect(await failureOf(call)).toMatchObject({ name: 'AbortError' })
    expect(proxy.requests).toHaveLength(1)
  })
})

describe('A client', () => {
  it.each<[string, ConstructorParameters<typeof AgentServer>[0]]>([
    ['no URL', { baseURL: 'localhost:3000', apiKey: 'x' }],
    ['a URL of another kind', { baseURL: 'ftp://example.org', apiKey: 'x' }],
    ['a password in the URL', { baseURL: 'http://a:b@example.org', apiKey: 'x' }],
    ['no key', { baseURL: 'http://example.org', apiKey: '' }],
    ['a key that breaks a header', { baseURL: 'http://example.org', apiKey: 'a\nb' }],
  ])('is not made with %s', (_what, options) => {
    expect(() => new AgentServer(options)).toThrow(TypeError)
  })

  it.each(['a key of mine', 'a-key-of-mine\n', 'a-këy-of-mine', '“a-key-of-mine”'])(
    'says that a key cannot be one, and does not repeat it: %j',
    (apiKey) => {
      const make = () => new AgentServer({ baseURL: 'http://example.org', apiKey })
      expect(make).toThrow(/^(?!.*mine).*Copy it again/s)
    },
  )

  it('shows its key to nobody who prints it', async () => {
    const client = new AgentServer({ baseURL: 'http://example.org', apiKey: TEST_KEY })
    const shown = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)
    expect(shown).not.toContain(TEST_KEY)
  })

  it('takes URL and key from the environment, where it is given none', async () => {
    vi.stubEnv('AGENT_SERVER_URL', `${server.url}/`)
    vi.stubEnv('AGENT_SERVER_KEY', TEST_KEY)
    expect((await new AgentServer().agent.get()).name).toBe('agent')
  })

  it('tells status, headers and request id of an answer to who wants them, and sends headers of one’s own', async () => {
    const client = clientOf(server, { defaultHeaders: { 'X-Request-Id': 'trace-1' } })
    const first = await client.query({ query: 'owls' }).withResponse()
    expect(first).toMatchObject({ data: { query: 'owls' }, requestId: 'trace-1' })
    expect(first.response.status).toBe(200)
    const second = client.query('owls', { headers: { 'x-request-id': 'trace-2' } })
    const { data, requestId } = await second.withResponse()
    expect(data).toEqual(first.data)
    expect(requestId).toBe('trace-2')
  })
})
