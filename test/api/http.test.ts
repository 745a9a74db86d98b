import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { countDocuments } from '../support/knowledge.ts'
import { startServer } from '../support/server.ts'

const server = await startServer({
  BODY_LIMIT: '2000',
  CORS_ORIGIN: 'https://app.example,http://localhost:5173',
})

const preflight = (origin: string) =>
  fetch(`${server.url}/query`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  })

describe('The request id', verifies('http.request-id', 'errors.request-id'), () => {
  it.each(['abc', 'a.b:c_d-9', 'x'.repeat(100)])(
    'is the one that the caller sent: %s',
    async (id) => {
      const response = await server.request('/agent', { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toBe(id)
    },
  )

  it.each(['', 'a b', 'x'.repeat(101), '<script>', 'a"b'])(
    'is made where the caller sent "%s"',
    async (id) => {
      const response = await server.request('/agent', { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
    },
  )

  it('of a failure is the same in header and body', async () => {
    const headers = { 'x-request-id': 'trace-7' }
    for (const response of [
      await server.request('/nowhere', { headers }),
      await server.request('/query', { body: {}, headers }),
      await fetch(`${server.url}/agent`, { headers }),
    ]) {
      const failure = await failureOf(response)
      expect([failure.requestId, failure.headers.get('x-request-id')]).toEqual([
        'trace-7',
        'trace-7',
      ])
    }
  })
})

describe('The size of a body', verifies('http.body-limit'), () => {
  const textOf = (length: number) => ({
    text: 'x'.repeat(length - JSON.stringify({ text: '' }).length),
  })

  it('may be BODY_LIMIT', async () => {
    expect((await server.request('/documents', { body: textOf(2_000) })).status).toBe(202)
  })

  it('beyond BODY_LIMIT is answered 413, and nothing is stored', async () => {
    const before = await countDocuments(server)
    const failure = await failureOf(await server.request('/documents', { body: textOf(2_001) }))
    expect(failure).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(await countDocuments(server)).toBe(before)
  })
})

describe('The media type of a body', verifies('http.media-type', 'endpoint.json'), () => {
  it.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/octet-stream',
    'nonsense',
  ])('%s is answered 415, and nothing is stored', async (type) => {
    const before = await countDocuments(server)
    const response = await server.request('/documents', {
      body: { text: 'x' },
      headers: { 'content-type': type },
    })
    expect(await failureOf(response)).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    expect(await countDocuments(server)).toBe(before)
  })

  it.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON'])(
    '%s is accepted',
    async (type) => {
      const headers = { 'content-type': type }
      const response = await server.request('/query', { body: { query: 'x' }, headers })
      expect(response.status).toBe(200)
    },
  )
})

describe('A request that has no body', verifies('http.media-type'), () => {
  it.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain'])(
    'may name the media type %s where none is asked for',
    async (type) => {
      const headers = { 'content-type': type }
      const unknown = '/documents/unknown'
      for (const [method, path] of [
        ['DELETE', unknown],
        ['POST', `${unknown}/retry`],
      ] as const) {
        const failure = await failureOf(await server.request(path, { method, headers }))
        expect(failure).toMatchObject({ status: 404, code: 'document_not_found' })
      }
      expect((await server.request('/agent', { headers })).status).toBe(200)
    },
  )

  it('is refused where one is asked for', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const path of ['/query', '/documents', '/chat']) {
      const failure = await failureOf(await server.request(path, { method: 'POST', headers }))
      expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
    }
  })
})

describe('A path or method that is not there', verifies('http.unknown-route'), () => {
  it.each([
    ['GET', '/nowhere', 404],
    ['GET', '/query', 405],
    ['PUT', '/chat', 405],
    ['DELETE', '/agent', 405],
    ['GET', '/v1/chat/completions', 405],
    ['GET', '/V1/models', 404],
  ])('%s %s answers %d', async (method, path, status) => {
    const failure = await failureOf(await server.request(path, { method }))
    const code = status === 404 ? 'route_not_found' : 'method_not_allowed'
    expect(failure).toMatchObject({ status, code })
    expect(failure.headers.has('allow')).toBe(status === 405)
    expect(failure.message).toContain(path)
  })

  it('does not repeat the query string, which may hold a secret', async () => {
    const failure = await failureOf(await server.request('/nowhere?key=hush'))
    expect(failure.message).not.toContain('hush')
  })

  it('ignores a trailing slash', async () => {
    expect((await server.request('/agent/')).status).toBe(200)
  })
})

describe('CORS_ORIGIN', verifies('http.cors'), () => {
  it('lets its origins call with a key and the headers of SDKs', async () => {
    for (const origin of ['https://app.example', 'http://localhost:5173']) {
      const response = await preflight(origin)
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      const methods = response.headers.get('access-control-allow-methods')
      expect(methods).toBe('GET, POST, PUT, PATCH, DELETE')
      expect(response.headers.get('access-control-allow-headers')).toBe(
        'authorization,content-type,x-stainless-lang',
      )
    }
  })

  it('shows answers and failures to its origins, with the headers that they need', async () => {
    const headers = { origin: 'https://app.example' }
    const responses = [
      await server.request('/agent', { headers }),
      await server.request('/query', { body: {}, headers }),
      await fetch(`${server.url}/agent`, { headers }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 400, 401])
    for (const response of responses) {
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
      expect(response.headers.get('access-control-expose-headers')).toMatch(
        /location.*retry-after.*warnings.*x-request-id/,
      )
    }
  })

  it('lets a stream be read by its origins', async () => {
    const body = { messages: [{ role: 'user', content: 'x' }] }
    const response = await server.request('/chat', {
      body,
      headers: { origin: 'https://app.example' },
    })
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
    await response.text()
  })

  it('lets no other origin call', async () => {
    const response = await preflight('https://evil.example')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('blocks all browsers if unset, and allows all with *', async () => {
    const headers = { origin: 'https://evil.example' }
    const closed = await (await startServer()).request('/agent', { headers })
    expect(closed.headers.get('access-control-allow-origin')).toBeNull()
    const open = await (await startServer({ CORS_ORIGIN: '*' })).request('/agent', { headers })
    expect(open.headers.get('access-control-allow-origin')).toBe('*')
    expect(open.headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('The headers that protect a browser', () => {
  it('stand on every kind of answer', verifies('http.headers'), async () => {
    const body = { messages: [{ role: 'user', content: 'x' }] }
    for (const response of [
      await server.request('/agent'),
      await server.request('/nowhere'),
      await fetch(`${server.url}/agent`),
      await fetch(`${server.url}/reference`),
      await server.request('/chat', { body }),
    ]) {
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('x-frame-options')).toBe('SAMEORIGIN')
      expect(response.headers.get('referrer-policy')).toBe('no-referrer')
      expect(response.headers.get('content-security-policy')).toMatch(/default-src 'self'/)
      expect(response.headers.get('x-powered-by')).toBeNull()
      await response.text()
    }
  })
})
