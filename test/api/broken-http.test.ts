import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { verifies } from '../requirements.ts'
import { countDocuments, listDocuments } from '../support/knowledge.ts'
import { openConnection, type RawRequest, rawRequest } from '../support/raw-connection.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const DOCUMENT = '{"text":"A text."}'
const CLOSE = 'connection: close'

let before: number

const server = await startServer()

beforeEach(async () => {
  before = await countDocuments(server)
})

afterEach(async () => {
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})

/** Sends bytes and answers what came back once the server closed. */
async function exchange(...parts: (string | Uint8Array)[]): Promise<string> {
  const connection = await openConnection(server)
  for (const part of parts) connection.send(part)
  return connection.closed()
}

const post = (request: Partial<RawRequest>) =>
  exchange(
    rawRequest({ path: '/documents', ...request, headers: [CLOSE, ...(request.headers ?? [])] }),
  )

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code)

describe('What is not HTTP', () => {
  it.each([
    ['garbage', 'hello\r\n\r\n'],
    ['a TLS greeting', Uint8Array.of(0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5)],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a method of its own', 'FROB / HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a header without a colon', 'GET /health HTTP/1.1\r\nhost x\r\n\r\n'],
    ['a NUL in a header', 'GET /health HTTP/1.1\r\nhost: x\r\nx-a: \0\r\n\r\n'],
    [
      'headers past their bound',
      `GET /health HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(70_000)}\r\n\r\n`,
    ],
    [
      'two different lengths',
      `POST /documents HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd`,
    ],
    [
      'a length that is no number',
      'POST /documents HTTP/1.1\r\nhost: x\r\ncontent-length: ten\r\n\r\n',
    ],
    ['a negative length', 'POST /documents HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
    [
      'length and chunks at once',
      'POST /documents HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a chunk without a size',
      `POST /documents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TEST_KEY}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    ],
  ])(
    '%s is answered 400 in the envelope, and the connection is closed',
    verifies('errors.not-http', 'errors.envelope', 'input.bytes'),
    async (_case, bytes) => {
      const answer = await exchange(bytes)
      expect(statusesOf(answer)).toEqual(['400'])
      expect(answer).toMatch(/content-type: application\/json/i)
      expect(answer).toMatch(
        /\{"error":\{"message":"[^"]+","type":"invalid_request_error","code":"invalid_request"/,
      )
      expect(await countDocuments(server)).toBe(before)
    },
  )
})

describe('A client that never closes its side after a refusal', () => {
  it('is let go', verifies('errors.not-http'), async () => {
    const servers: Server[] = []
    const own = await startServer({}, { beforeListen: (app) => void servers.push(app.server) })
    const connections = () => promisify((then: Count) => servers[0]?.getConnections(then))()
    const { hostname: host, port } = new URL(own.url)
    const socket = connect({ host, port: Number(port), allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    socket.resume().write('garbage\r\n\r\n')
    await once(socket, 'end')
    await expect.poll(connections).toBe(0)
  })
})

type Count = (error: Error | null, count: number) => void

describe('A path', verifies('input.bytes', 'http.unknown-route', 'authentication.public'), () => {
  it.each([
    ['out of a public one', '/health/../agent', 404],
    ['out of the reference', '/reference/static/../../agent', 404],
    ['with a broken escape', '/documents/%zz', 400],
    ['with an escaped NUL', '/documents/%00', 404],
    ['with an escaped slash', '/documents/..%2f..%2fetc%2fpasswd', 404],
    ['with a parameter past its bound', `/documents/${'x'.repeat(300)}`, 400],
    ['that leads out of the assets', '/reference/static/..%2f..%2f..%2fpackage.json', 404],
    ['that is an asterisk', '*', 404],
  ])('%s is answered in the envelope', async (_case, path, status) => {
    const answer = await exchange(rawRequest({ path, headers: [CLOSE] }))
    expect(statusesOf(answer)).toEqual([String(status)])
    expect(answer).toContain('{"error":{"message":')
  })

  it('out of a public one opens nothing without the key', async () => {
    for (const path of [
      '/health/../agent',
      '/reference/../agent',
      '/openapi.json/../metrics',
      '//agent',
    ]) {
      const answer = await exchange(`GET ${path} HTTP/1.1\r\nhost: x\r\n${CLOSE}\r\n\r\n`)
      expect([path, statusesOf(answer)]).toEqual([path, ['401']])
    }
  })
})

describe('Duplicate headers', verifies('authentication.bearer', 'input.bytes'), () => {
  it('give no second try at the key', async () => {
    const wrong = 'authorization: Bearer wrong'
    const answer = await exchange(
      `GET /agent HTTP/1.1\r\nhost: x\r\n${wrong}\r\nauthorization: Bearer ${TEST_KEY}\r\n${CLOSE}\r\n\r\n`,
    )
    expect(statusesOf(answer)).toEqual(['401'])
  })

  it('of the media type are as good as the first', async () => {
    const headers = ['content-type: text/plain', 'content-type: application/json']
    expect(statusesOf(await post({ body: DOCUMENT, headers }))).toEqual(['415'])
    expect(await countDocuments(server)).toBe(before)
  })
})

describe('Pipelined requests', verifies('input.bytes', 'errors.not-http'), () => {
  it('are answered one by one, in their order', async () => {
    const answer = await exchange(
      rawRequest({ path: '/documents', body: '{"text":"First of the pipeline."}' }),
      Buffer.concat([
        rawRequest({ path: '/query', body: '{"query":""}' }),
        rawRequest({ path: '/nowhere' }),
        rawRequest({ path: '/documents', body: '{"text":"Last of the pipeline."}' }),
        rawRequest({ path: '/health', headers: [CLOSE] }),
      ]),
    )
    expect(statusesOf(answer)).toEqual(['202', '400', '404', '202', '200'])
    expect(await countDocuments(server)).toBe(before + 2)
  })

  it('that turn into garbage have their answers, then the refusal', async () => {
    const whole = [rawRequest({ path: '/documents/unknown' }), rawRequest({ path: '/agent' })]
    const answer = await exchange(Buffer.concat([...whole, Buffer.from('garbage\r\n\r\n')]))
    expect(statusesOf(answer)).toEqual(['404', '200', '400'])
  })

  it('that turn into garbage write nothing into a stream that is open', async () => {
    const upstream = await startScriptedUpstream()
    const release = Promise.withResolvers<void>()
    upstream.always(
      streamReply(chunk({ content: 'Half ' }), { until: release.promise }, chunk({}, 'stop'), DONE),
    )
    const connection = await openConnection(await startServer(modelAt(upstream)))
    connection.send(
      rawRequest({ path: '/chat', body: '{"messages":[{"role":"user","content":"x"}]}' }),
    )
    await connection.received(/"text":"Half "/)
    connection.send('garbage\r\n\r\n')
    connection.send('more garbage\r\n\r\n')
    release.resolve()
    const answer = await connection.closed()
    expect(statusesOf(answer)).toEqual(['200', '400'])
    expect(answer).toMatch(/event: done\ndata: .*\n\n\r\n0\r\n\r\nHTTP\/1\.1 400 /)
  })
})

describe('A body', verifies('input.bytes', 'input.text', 'http.body-limit'), () => {
  it.each([
    [
      'in chunks',
      ['transfer-encoding: chunked'],
      `a\r\n${DOCUMENT.slice(0, 10)}\r\n8\r\n${DOCUMENT.slice(10)}\r\n0\r\n\r\n`,
    ],
    ['with a byte order mark', [], `\ufeff${DOCUMENT}`],
    ['that expects a go-ahead', ['expect: 100-continue'], DOCUMENT],
  ])('%s is accepted', async (_case, headers, body) => {
    expect(statusesOf(await post({ headers, body })).at(-1)).toBe('202')
    expect(await countDocuments(server)).toBe(before + 1)
  })

  it.each([
    ['longer than its length', ['content-length: 5'], DOCUMENT],
    [
      'of another encoding of text',
      ['content-type: application/json; charset=utf-16'],
      Buffer.from(DOCUMENT, 'utf16le'),
    ],
    ['that is compressed', ['content-encoding: gzip'], gzipSync(DOCUMENT)],
    ['said to be compressed', ['content-encoding: gzip'], DOCUMENT],
    ['in an unknown transfer encoding', ['transfer-encoding: sideways'], DOCUMENT],
    ['of bytes that are no JSON', [], Uint8Array.of(0xff, 0xfe, 0x00, 0x01)],
  ])('%s is refused with 4xx and stores nothing', async (_case, headers, body) => {
    const [status, ...others] = statusesOf(await post({ headers, body }))
    expect(status).toMatch(/^4\d\d$/)
    expect(others).not.toContain('202')
    expect(await countDocuments(server)).toBe(before)
  })

  it('that is not valid UTF-8 is refused, so that no document is stored with U+FFFD in its place', async () => {
    const before = await countDocuments(server)
    const body = Buffer.concat([
      Buffer.from('{"text":"Gryphon '),
      Uint8Array.of(0xff, 0xc3),
      Buffer.from(' nests."}'),
    ])
    expect(statusesOf(await post({ body }))).toEqual(['400'])
    expect(await countDocuments(server)).toBe(before)
  })

  it('in chunks without end is cut off at the limit', async () => {
    const connection = await openConnection(server)
    const head = rawRequest({
      method: 'POST',
      path: '/documents',
      headers: ['content-type: application/json', 'transfer-encoding: chunked'],
    })
    connection.send(head)
    connection.send('9\r\n{"text":"\r\n')
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    for (let sent = 0; sent < 200; sent += 1) connection.send(chunk)
    expect(await connection.received(/"code":"body_too_large"/)).toMatch(/^HTTP\/1\.1 413 /)
    connection.vanish()
    expect(await countDocuments(server)).toBe(before)
  })
})

describe('An upload that is abandoned', () => {
  it.each([
    ['in its headers', rawRequest({ path: '/documents', body: DOCUMENT }).subarray(0, 60)],
    [
      'before its body',
      rawRequest({ path: '/documents', body: DOCUMENT }).subarray(0, -DOCUMENT.length),
    ],
    ['in its body', rawRequest({ path: '/documents', body: DOCUMENT }).subarray(0, -5)],
    ['a byte before its end', rawRequest({ path: '/documents', body: DOCUMENT }).subarray(0, -1)],
    [
      'within a chunk',
      rawRequest({
        path: '/documents',
        body: 'ff\r\n{"text":"',
        headers: ['transfer-encoding: chunked'],
      }),
    ],
  ])(
    '%s stores nothing, whether the client hangs up or goes silent',
    verifies('input.vanishing', 'input.bytes'),
    async (_case, bytes) => {
      for (const leave of ['vanish', 'end'] as const) {
        const connection = await openConnection(server)
        connection.send(bytes)
        // What comes after it on another connection is answered after it has been read.
        await countDocuments(server)
        if (leave === 'vanish') connection.vanish()
        else connection.socket.end()
        expect(statusesOf(await connection.closed())).not.toContain('202')
      }
      expect((await listDocuments(server, '?limit=100')).documents).toHaveLength(before)
    },
  )
})

describe('The host of a request', () => {
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  })
  const accept = 'accept: application/json, text/event-stream'
  const ask = async (headers: string[]) => {
    const connection = await openConnection(server)
    onTestFinished(() => connection.vanish())
    const request = rawRequest({ path: '/mcp', body: initialize, headers: [accept, ...headers] })
    connection.send(request.toString().replace('host: localhost\r\n', ''))
    return connection.received(/\r\n\r\n[\s\S]*\}/)
  }

  it.each([
    ['that is none', ['host: a b[']],
    ['that is there twice', ['host: a.org', 'Host: b.org']],
  ])('%s is refused in the envelope', async (_case, headers) => {
    expect(await ask(headers)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/)
  })

  it('may be any other', async () => {
    expect(await ask(['host: [::1]:3000'])).toMatch(/^HTTP\/1\.1 200 /)
  })
})
