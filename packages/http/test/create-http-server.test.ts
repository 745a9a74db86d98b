import { once } from 'node:events'
import { filledText } from '@agent-server/lib/fields.ts'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ERROR_LEVEL, envelope, KEY, open, openApp } from './open-app.ts'
import { connectRaw, rawPost } from './raw-client.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

function echoes(app: FastifyInstance): void {
  const schema = { body: z.object({ text: filledText(1_000_000) }) }
  app.post('/echo', { ...open, schema }, ({ body }) => body)
  app.get('/item/:id', open, ({ params }) => params)
}

describe('a body', () => {
  it.each<[string, string | Uint8Array, string | undefined, number, string, RegExp]>([
    ['broken JSON', '{"text":', 'application/json', 400, 'invalid_request', /not valid JSON/],
    ['an empty JSON body', '', 'application/json', 400, 'invalid_request', /cannot be empty/],
    [
      'a character that is no JSON',
      '\u0000',
      'application/json',
      400,
      'invalid_request',
      /not valid JSON/,
    ],
    [
      'JSON in Latin-1',
      Buffer.from('{"text":"caf\u00e9"}', 'latin1'),
      'application/json; charset=iso-8859-1',
      400,
      'invalid_request',
      /not valid UTF-8/,
    ],
    [
      'a body without a media type',
      '{"text":"a"}',
      undefined,
      415,
      'unsupported_media_type',
      /not supported here. Send `Content-Type: application\/json`/,
    ],
    [
      'plain text',
      '{"text":"a"}',
      'text/plain',
      415,
      'unsupported_media_type',
      /not supported here. Send `Content-Type: application\/json`/,
    ],
    [
      'a form',
      'text=a',
      'application/x-www-form-urlencoded',
      415,
      'unsupported_media_type',
      /not supported here. Send `Content-Type: application\/json`/,
    ],
    [
      'a media type that is none',
      '{}',
      'json',
      415,
      'unsupported_media_type',
      /not supported here. Send `Content-Type: application\/json`/,
    ],
  ])('is refused: %s', async (_case, body, type, status, code, message) => {
    const { url } = await openApp(echoes)
    // A Uint8Array, because fetch gives a string a media type of its own.
    const response = await fetch(`${url}/echo`, {
      method: 'POST',
      body: typeof body === 'string' ? new TextEncoder().encode(body) : Buffer.from(body),
      ...(type && { headers: { 'content-type': type } }),
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual(envelope(code, expect.stringMatching(message)))
  })

  it('with a parameter on its media type is read', async () => {
    const { url } = await openApp(echoes)
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const response = await fetch(`${url}/echo`, { method: 'POST', body: '{"text":"ä"}', headers })
    expect(await response.json()).toEqual({ text: 'ä' })
  })

  it('past the limit is refused with 413 before it is read', async () => {
    const { port } = await openApp(echoes, { bodyLimit: 1_000 })
    const client = await connectRaw(port)
    client.send(
      'POST /echo HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 1001\r\n\r\n{',
    )
    const answer = await client.until(/\}\}$/)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual(
      envelope(
        'body_too_large',
        'The body is too large. Send less at once, send a long text as a file, or raise BODY_LIMIT.',
      ),
    )
  })

  it('of unknown length past the limit is refused with 413', async () => {
    const { port } = await openApp(echoes, { bodyLimit: 1_000 })
    const client = await connectRaw(port)
    client.send(
      `POST /echo HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n${' '.repeat(2_000)}\r\n`,
    )
    expect(await client.until(/\}\}$/)).toMatch(/^HTTP\/1\.1 413 /)
  })

  it.each([
    ['a list', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['an object', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['an object that has the field', `{"text":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
  ])(
    'a hundred thousand levels deep is refused like any other wrong one: %s',
    async (_case, body) => {
      const { url, log } = await openApp(echoes, { bodyLimit: 10_000_000 })
      const response = await fetch(`${url}/echo`, { method: 'POST', body, headers: JSON_TYPE })
      expect(response.status).toBe(400)
      expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
    },
  )

  it.each([
    '{"text":"a","__proto__":{"polluted":1}}',
    '{"text":"a","constructor":{"prototype":{"polluted":1}}}',
  ])('that names a prototype is refused: %s', async (body) => {
    const { url } = await openApp(echoes)
    const response = await fetch(`${url}/echo`, { method: 'POST', body, headers: JSON_TYPE })
    expect(response.status).toBe(400)
    expect(Reflect.has({}, 'polluted')).toBe(false)
  })

  it('with lone surrogates and NULs is made storable, code unit by code unit', async () => {
    const { url } = await openApp(echoes)
    const body = '{"text":"a\\ud800b\\udc00c\\u0000d😀"}'
    const response = await fetch(`${url}/echo`, { method: 'POST', body, headers: JSON_TYPE })
    expect(await response.json()).toEqual({ text: 'a\ufffdb\ufffdc d😀' })
  })

  it('whose upload is aborted harms nothing, and logs no error', async () => {
    const { port, url, log, nextEnded } = await openApp(echoes)
    const client = await connectRaw(port)
    const gone = nextEnded()
    client.send(
      'POST /echo HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"te',
    )
    setImmediate(client.leave)
    expect((await gone).status).toBe(499)
    expect((await fetch(`${url}/item/1`)).status).toBe(200)
    expect(log.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([])
  })
})

describe('an address', () => {
  it.each([
    ['a broken escape', '/item/%zz'],
    ['a broken UTF-8 sequence', '/item/%E0%A4%A'],
    ['a parameter of more than 8,192 characters', `/item/${'a'.repeat(8_193)}`],
  ])('with %s is refused in the envelope', async (_case, path) => {
    const { port } = await openApp(echoes)
    const client = await connectRaw(port)
    client.send(`GET ${path} HTTP/1.1\r\nhost: test\r\nx-request-id: mine\r\n\r\n`)
    const answer = await client.until(/\}\}$/)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /s)
    expect(answer).toMatch(/^x-request-id: mine\r$/m)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      error: { code: 'invalid_request', request_id: 'mine' },
    })
  })

  it('that no route has is a 404 without the query string', async () => {
    const { url } = await openApp(echoes)
    const headers = { authorization: `Bearer ${KEY}` }
    const response = await fetch(`${url}/nowhere?token=my-secret`, { headers })
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual(
      envelope('route_not_found', 'No route GET /nowhere: see /reference'),
    )
  })

  it('may end in a slash', async () => {
    const { url } = await openApp(echoes)
    expect((await fetch(`${url}/item/1/`)).status).toBe(200)
  })
})

describe('bytes that are no HTTP', () => {
  it('are answered with the envelope, its length and an id', async () => {
    const { port } = await openApp(echoes)
    const client = await connectRaw(port)
    client.send('GARBAGE\r\n\r\n')
    const [head = '', body = ''] = (await client.closed).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 /s)
    const { error } = JSON.parse(body)
    expect(error).toMatchObject({ code: 'invalid_request', message: 'This is not valid HTTP' })
    expect(head).toContain(`x-request-id: ${error.request_id}`)
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`)
  })

  it('after a good request leave its answer whole', async () => {
    const { port } = await openApp(echoes)
    const client = await connectRaw(port)
    client.send('GET /item/1 HTTP/1.1\r\nhost: test\r\n\r\n')
    await client.until(/\{"id":"1"\}/)
    client.send('GARBAGE\r\n\r\n')
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 .*\{"id":"1"\}HTTP\/1\.1 400 /s)
  })
})

describe('a connection that Node gives up', () => {
  /** What a client receives when its connection fails with this code of Node. */
  async function receivedAfter(code: string): Promise<string> {
    const { app, port } = await openApp(echoes)
    const accepted = once(app.server, 'connection')
    const client = await connectRaw(port)
    const [socket] = await accepted
    app.server.emit('clientError', Object.assign(new Error(code), { code }), socket)
    return client.closed
  }

  it('because its request did not arrive in time is answered with 408', async () => {
    const [head, body = ''] = (await receivedAfter('ERR_HTTP_REQUEST_TIMEOUT')).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 408 /)
    expect(JSON.parse(body)).toEqual(
      envelope('request_timeout', 'The request did not arrive in time'),
    )
  })

  it('because the client reset it is closed without a response', async () => {
    expect(await receivedAfter('ECONNRESET')).toBe('')
  })
})

describe('the identifier of a request', () => {
  it.each(['mine', '4bf92f35-77b3-4da6-a3ce-929d0e0e4736', 'a:b.c_d-e', 'a'.repeat(100)])(
    'is the one that the caller sent where it is harmless: %s',
    async (id) => {
      const { url, log } = await openApp(echoes)
      const response = await fetch(`${url}/item/1`, { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toBe(id)
      expect(log.map(({ reqId }) => reqId)).toContain(id)
    },
  )

  it('differs from request to request', async () => {
    const { url } = await openApp(echoes)
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () =>
        (await fetch(`${url}/item/1`)).headers.get('x-request-id'),
      ),
    )
    expect(new Set(ids).size).toBe(20)
  })
})

it('answers several requests on one connection', async () => {
  const { port } = await openApp(echoes)
  const client = await connectRaw(port)
  client.send(rawPost('/echo', '{"text":"one"}') + rawPost('/echo', '{"text":"two"}'))
  expect(await client.until(/two/)).toMatch(/one.*two/s)
})
