import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import {
  createGuardedFetch,
  type OutboundBounds,
  OutboundError,
} from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { describe, expect, it, onTestFinished } from 'vitest'

const BOUNDS: OutboundBounds = {
  maxBytes: 1_000,
  idleMs: 20_000,
  totalMs: 30_000,
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** A server on 127.0.0.1 that closes itself, and how often it was asked. */
async function serve(answer: Answer) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    void answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  })
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('The server has no port')
  return { port: address.port, asked }
}

function open(allow: readonly string[], bounds: Partial<OutboundBounds> = {}) {
  const guarded = createGuardedFetch(createOutboundPolicy(allow), { ...BOUNDS, ...bounds })
  onTestFinished(() => guarded.close())
  return guarded.fetch
}

const fails = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OutboundError)) throw new Error('No OutboundError', { cause: error })
  return error
}

describe('A guarded fetch', () => {
  it.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost'])(
    'does not reach %s, and says what would let it',
    async (host) => {
      const { port, asked } = await serve((_request, response) => response.end('secret'))
      const { kind, message } = await fails(open([])(`http://${host}:${port}/`))
      expect(kind).toBe('forbidden')
      expect(message).toContain('OUTBOUND_ALLOW')
      expect(asked).toEqual([])
    },
  )

  it.each([
    ['an address', '127.0.0.1', '127.0.0.1'],
    ['a range', '127.0.0.0/8', '127.0.0.1'],
    ['a name', 'localhost', 'localhost'],
    ['the address of a name', '127.0.0.1', 'localhost'],
  ])('reaches %s that is listed', async (_case, entry, host) => {
    const { port } = await serve((_request, response) => response.end('hello'))
    const response = await open([entry])(`http://${host}:${port}/`)
    expect(response).toBeInstanceOf(Response)
    expect(await response.text()).toBe('hello')
  })

  it('sends method, headers and body unchanged, and its own user agent', async () => {
    const { port } = await serve(async (request, response) => {
      const body = (await request.toArray()).join('')
      const { method, headers } = request
      response.end(JSON.stringify([method, headers['x-a'], headers['user-agent'], body]))
    })
    const response = await open(['127.0.0.1'])(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'x-a': 'b' },
      body: 'words',
    })
    expect(await response.json()).toEqual(['POST', 'b', 'agent-server', 'words'])
  })

  it('follows no redirect to a forbidden address', async () => {
    const secret = await serve((_request, response) => response.end('secret'))
    const { port } = await serve((_request, response) =>
      response.writeHead(302, { location: `http://localhost:${secret.port}/inside` }).end(),
    )
    const inner = await serve((_request, response) =>
      response.writeHead(307, { location: `http://[::ffff:7f00:2]:${secret.port}/` }).end(),
    )
    const fetch = open(['127.0.0.1/32'])
    expect((await fails(fetch(`http://127.0.0.1:${inner.port}/`))).kind).toBe('forbidden')
    expect(secret.asked).toEqual([])
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('secret')
  })

  it('reports the final address, and follows no redirect if configured', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/new') response.end('here')
      else response.writeHead(301, { location: '/new' }).end()
    })
    const fetch = open(['127.0.0.1'])
    const followed = await fetch(`http://127.0.0.1:${port}/old`)
    expect([followed.url, followed.redirected]).toEqual([`http://127.0.0.1:${port}/new`, true])
    const kept = await fetch(`http://127.0.0.1:${port}/old`, { redirect: 'manual' })
    expect([kept.status, kept.headers.get('location')]).toEqual([301, '/new'])
    const refused = fetch(`http://127.0.0.1:${port}/old`, { redirect: 'error' })
    expect((await fails(refused)).kind).toBe('unreachable')
  })

  it('reads an answer up to its bound, however well it was compressed', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/packed') response.setHeader('content-encoding', 'gzip')
      const body = Buffer.alloc(100_000, 'a')
      response.end(request.url === '/packed' ? gzipSync(body) : body)
    })
    for (const path of ['/plain', '/packed']) {
      const response = await open(['127.0.0.1'])(`http://127.0.0.1:${port}${path}`)
      expect((await fails(response.text())).kind).toBe('too_large')
    }
    const whole = await open(['127.0.0.1'], { maxBytes: 100_000 })(
      `http://127.0.0.1:${port}/packed`,
    )
    expect(await whole.text()).toHaveLength(100_000)
  })

  it.each([
    ['before its head', (_request: IncomingMessage, response: ServerResponse) => void response],
    [
      'within its body',
      (_request: IncomingMessage, response: ServerResponse) => void response.write('a'),
    ],
  ])('gives an answer up that falls silent %s', async (_when, answer) => {
    const { port } = await serve(answer)
    for (const bounds of [{ idleMs: 50, totalMs: 600_000 }, { totalMs: 50 }]) {
      const call = open(['127.0.0.1'], bounds)(`http://127.0.0.1:${port}/`)
      expect((await fails(call.then((response) => response.text()))).kind).toBe('timeout')
    }
  })

  it('ends with the reason of its signal, while the body is read, too', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/body') response.write('a')
    })
    const fetch = open(['127.0.0.1'])
    const stopped = new Error('stopped')
    await expect(
      fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort(stopped) }),
    ).rejects.toBe(stopped)
    const stop = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}/body`, { signal: stop.signal })
    stop.abort(stopped)
    await expect(response.text()).rejects.toBe(stopped)
  })

  it('reports that nobody answers, without the path and its content', async () => {
    const { port } = await serve((request) => request.destroy())
    const { kind, message } = await fails(
      open(['127.0.0.1'])(`http://127.0.0.1:${port}/?key=s3cret`),
    )
    expect([kind, message]).toEqual(['unreachable', `127.0.0.1:${port} could not be reached`])
  })

  it('reports that a name has no address', async () => {
    const { kind, message } = await fails(open([])('http://no..name/'))
    expect([kind, message]).toEqual(['unreachable', 'no..name could not be reached'])
  })

  it('passes an answer without a body', async () => {
    const { port } = await serve((_request, response) => response.writeHead(204).end())
    const response = await open(['127.0.0.1'])(`http://127.0.0.1:${port}/`)
    expect([response.status, await response.text()]).toEqual([204, ''])
  })
})
