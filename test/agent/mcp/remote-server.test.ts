import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { onlyLong } from '../../support/long.ts'
import {
  handTo,
  startEverything,
  startGuardedServer,
  startHttp,
  startHungServer,
  startModernServer,
  startWebPage,
} from '../../support/mcp-servers.ts'
import { freePort } from '../../support/server-process.ts'
import { connectTo, serverThat } from './remote-server-for-test.ts'

const never = () => new Promise<never>(() => undefined)

/** A server that works behind something that ends the stream of each call before its answer. */
async function startInterrupted() {
  const { url } = await startModernServer(serverThat(never))
  const behind = handTo(url)
  const front = await startHttp((incoming, response) => {
    if (incoming.headers['mcp-method'] !== 'tools/call') return behind(incoming, response)
    incoming.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': working\n\n')
  })
  return { url: `${front.url}/mcp` }
}

/** A server that takes its time to list its tools, once. */
async function startSlow(milliseconds: number) {
  const { url } = await startModernServer(serverThat(async () => 'done'))
  const behind = handTo(url)
  const front = await startHttp((incoming, response) => {
    const late = incoming.headers['mcp-method'] === 'tools/list' ? milliseconds : 0
    setTimeout(() => behind(incoming, response), late)
  })
  return { url: `${front.url}/mcp` }
}

describe('a list of tools', () => {
  it('may take as long as the settings of its connection say', async () => {
    const { url } = await startSlow(1_500)
    const hasty = await connectTo(url, { listTimeout: 1 })
    await expect(hasty.connection.prove(0)).rejects.toThrow(/timed? ?out/i)
    expect(hasty.connection.reason).toContain('in time')
    const patient = await connectTo(url, { listTimeout: 5 })
    await patient.connection.prove(0)
    expect(await patient.call('work')).toBe('done')
  })
})

describe('a call', () => {
  it('is cancelled at the server when the caller leaves', async () => {
    const began = Promise.withResolvers<AbortSignal>()
    const work = async ({ signal }: { signal: AbortSignal }) => {
      began.resolve(signal)
      await once(signal, 'abort')
      return 'late'
    }
    const { connection, call } = await connectTo((await startModernServer(serverThat(work))).url)
    await connection.prove(0)
    const caller = new AbortController()
    const answer = call('work', {}, caller.signal)
    const signal = await began.promise
    const aborted = once(signal, 'abort')
    caller.abort(new Error('The caller left'))
    await expect(answer).rejects.toThrow('The caller left')
    await aborted
  })

  it('hides credentials that the server repeats', async () => {
    const { url } = await startModernServer(
      serverThat(async () => {
        throw new Error('The token tok-1234567890 has expired')
      }),
    )
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is to be written
    const headers = { authorization: 'Bearer ${TOKEN}' }
    const environment = { TOKEN: 'tok-1234567890' }
    const { connection, call } = await connectTo(url, { headers }, environment)
    await connection.prove(0)
    await expect(call('work')).rejects.toThrow('The token [hidden] has expired')
  })

  it('may take longer than its timeout as long as it reports progress', onlyLong, async () => {
    const { url } = await startModernServer(
      serverThat(async ({ progress }) => {
        for (let step = 0; step < 6; step += 1) {
          await pause(300)
          await progress()
        }
        return 'done'
      }),
    )
    const { connection, call } = await connectTo(url, { timeout: 1 })
    await connection.prove(0)
    expect(await call('work')).toBe('done')
  })

  it('that stays silent is given up, and after three in a row the server gets a rest', async () => {
    const { url } = await startModernServer(serverThat(never))
    const { connection, call } = await connectTo(url, { timeout: 1 })
    await connection.prove(0)
    const silent = { name: 'Refusal', message: expect.stringContaining('in time') }
    for (let time = 0; time < 3; time += 1) {
      await expect(call('work')).rejects.toThrow(expect.objectContaining(silent))
    }
    expect(connection.session).toBeUndefined()
  })

  it.each<[string, () => Promise<{ url: string }>, RegExp]>([
    [
      'is too large',
      () =>
        startModernServer(
          serverThat(async ({ progress }) => {
            await progress()
            return 'x'.repeat(2_000_000)
          }),
        ),
      /larger than 1000000 bytes/,
    ],
    ['breaks off', startInterrupted, /closed the connection/],
  ])('whose answer %s ends at once, and says so', async (_case, start, reason) => {
    const { connection, call } = await connectTo((await start()).url, { timeout: 60 })
    await connection.prove(0)
    await expect(call('work')).rejects.toThrow(reason)
    expect(connection.session).toBeDefined()
  })

  it('works at once on a server that was started anew and has forgotten the session', async () => {
    const port = await freePort()
    const first = await startEverything('streamableHttp', port)
    const { connection, call } = await connectTo(first.url)
    await connection.prove(0)
    await first.stop()
    await startEverything('streamableHttp', port)
    expect(await call('echo', { message: 'again' })).toBe('Echo: again')
  })

  it.each([
    ['no object', [1, 2], 'ToolInputError'],
    ['text', 'a', 'ToolInputError'],
  ])('is refused with %s', async (_case, input, name) => {
    const { connection, call } = await connectTo((await startModernServer(serverThat(never))).url)
    await connection.prove(0)
    await expect(call('work', input)).rejects.toThrow(expect.objectContaining({ name }))
  })

  it('that the server refuses tells the model why', async () => {
    const { connection, call } = await connectTo((await startEverything('streamableHttp')).url)
    await connection.prove(0)
    const failure = { name: 'Refusal', message: expect.stringMatching(/message/i) }
    await expect(call('echo', {})).rejects.toThrow(expect.objectContaining(failure))
  })
})

describe('the tools', () => {
  const adding = (names: string[]) => () => {
    const server = new McpServer({ name: 'ours', version: '1.0.0' }, {})
    for (const name of names) {
      server.registerTool(name, { inputSchema: z.object({}) }, () => ({ content: [] }))
    }
    return server
  }

  it('are those that are allowed', async () => {
    const { url } = await startModernServer(adding(['read', 'write']))
    const { connection, server } = await connectTo(url, { allowTools: ['read'] })
    await connection.prove(0)
    expect(server.tools.map(({ remote, off }) => [remote.name, off])).toEqual([
      ['read', false],
      ['write', true],
    ])
  })

  it('that are added later wait to be accepted', async () => {
    const names = ['read']
    const { url } = await startModernServer(adding(names))
    const { connection, server, lines } = await connectTo(url)
    await connection.prove(0)
    names.push('write')
    await connection.prove(0)
    const reasons = () => server.tools.map(({ tool }) => tool.unavailable?.())
    expect(reasons()).toEqual([undefined, expect.stringContaining('added this tool')])
    expect(lines.filter((line) => line.includes('needs to be accepted'))).toHaveLength(1)
    await server.accept()
    expect(reasons()).toEqual([undefined, undefined])
  })
})

describe('the reason why a server cannot be used', () => {
  const answering = (status: number, headers: Record<string, string> = {}) =>
    startHttp((incoming, response) => {
      incoming.resume()
      response.writeHead(status, headers).end('secret words of the server')
    })

  it.each<[string, () => Promise<{ url: string }>, RegExp]>([
    ['a web page', startWebPage, /not an MCP server/],
    ['HTTP 401', () => answering(401), /requires credentials, or does not accept these/],
    ['HTTP 403', () => answering(403), /denies access/],
    ['HTTP 404', () => answering(404), /HTTP 404; check the path/],
    ['HTTP 503', () => answering(503), /HTTP 503/],
    ['a redirect', () => answering(307, { location: 'http://127.0.0.1:1/' }), /redirects/],
    ['nobody', async () => ({ url: `http://127.0.0.1:${await freePort()}` }), /127\.0\.0\.1/],
    ['a private address', async () => ({ url: 'http://10.0.0.1' }), /OUTBOUND_ALLOW/],
  ])('is given in our own words: %s', async (_case, start, reason) => {
    const { connection, lines } = await connectTo((await start()).url)
    await expect(connection.prove(0)).rejects.toThrow()
    expect(connection.reason).toMatch(reason)
    expect(`${connection.reason}${lines.join('')}`).not.toContain('secret words')
  })

  it('is that it connects, while it does', async () => {
    const { connection } = await connectTo((await startHungServer()).url)
    connection.start()
    expect(connection.reason).toBe('Connecting')
  })
})

describe('client credentials', () => {
  it('get a token from the authorisation server, which sees no header of the other', async () => {
    const modern = await startModernServer(serverThat(async () => 'done'))
    const { url, issuer, seen } = await startGuardedServer((_incoming, response) =>
      response.writeHead(307, { location: modern.url }).end(),
    )
    const { connection } = await connectTo(
      url,
      {
        headers: { 'X-Tenant': 'ours' },
        oauth: { clientId: 'agent', clientSecret: `$\{CLIENT_SECRET}`, issuer },
      },
      { CLIENT_SECRET: 'secret' },
    )
    // The server behind redirects, which shows that it took the token.
    await expect(connection.prove(0)).rejects.toThrow()
    expect(connection.reason).toMatch(/redirects/)
    expect(seen.some((line) => line.startsWith('POST /token'))).toBe(true)
    expect(seen.filter((line) => line.includes('ours'))).toEqual([])
  })
})
