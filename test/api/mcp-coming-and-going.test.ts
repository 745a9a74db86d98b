import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { readBlocks } from '../support/event-stream-reader.ts'
import { onlyLong } from '../support/long.ts'
import { connections, mcpTools, poll, settled, startWith } from '../support/mcp-connections.ts'
import { startEverything, startHungServer, startWebPage } from '../support/mcp-servers.ts'
import type { TestServer } from '../support/server.ts'
import { freePort } from '../support/server-process.ts'
import { textReply } from '../support/upstream-replies.ts'

const ROUNDS = 3
const MAX_MILLISECONDS_LATER = 1_000
const TEST_MS = 120_000

/** The shortest of some times, in milliseconds, until the first words of an answer are there. */
async function timeFirstWords(server: () => Promise<TestServer>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now()
    await firstWords(await server())
    times.push(performance.now() - begun)
  }
  return Math.min(...times)
}

async function firstWords({ request }: TestServer): Promise<void> {
  const body = { messages: [{ role: 'user', content: 'Hello?' }] }
  for await (const { data } of readBlocks(await request('/chat', { body }))) {
    if (data.includes('text-delta')) return
  }
  throw new Error('The answer has no words')
}

async function startAnswering(mcpServers: object): Promise<TestServer> {
  const { server, upstream } = await startWith(mcpServers)
  upstream.always(textReply('Hello.'))
  return server
}

describe('a hung, a dead, an HTML-answering and a good MCP server', () => {
  it('delay the first words of a chat by less than a second, and those that are down are named', {
    ...onlyLong,
    ...verifies('mcp.alone'),
    timeout: TEST_MS,
    // It compares times, which differ by more where the machine has other work.
    retry: 2,
  }, async () => {
    const four = {
      hung: { url: (await startHungServer()).url },
      dead: { url: `http://127.0.0.1:${await freePort()}/mcp` },
      page: { url: (await startWebPage()).url },
      good: { url: (await startEverything('streamableHttp')).url },
    }
    const aloneAtStart = await timeFirstWords(() => startAnswering({}))
    const fourAtStart = await timeFirstWords(() => startAnswering(four))
    expect(fourAtStart - aloneAtStart).toBeLessThan(MAX_MILLISECONDS_LATER)

    const [alone, server] = [await startAnswering({}), await startAnswering(four)]
    await settled(server, 'good', 'on')
    await poll(
      () => connections(server),
      [
        { name: 'hung', state: 'unavailable', reason: /./ },
        { name: 'dead', state: 'unavailable', reason: /127\.0\.0\.1 could not be reached/ },
        { name: 'page', state: 'unavailable', reason: /no MCP server/ },
        { name: 'good', state: 'on' },
      ],
    )
    const aloneSettled = await timeFirstWords(async () => alone)
    const fourSettled = await timeFirstWords(async () => server)
    expect(fourSettled - aloneSettled).toBeLessThan(MAX_MILLISECONDS_LATER)
  })
})

describe('an MCP server that is killed and started again', () => {
  it('is told of truly by /agent/capabilities and by /agent/tools', {
    ...verifies('mcp.alone', 'mcp.reconnect'),
    timeout: TEST_MS,
  }, async () => {
    const port = await freePort()
    const first = await startEverything('streamableHttp', port)
    const { server } = await startWith({ one: { url: first.url } })
    const reported = async () => {
      const [connection] = await connections(server)
      const tools = await mcpTools(server)
      const states = [...new Set(tools.map(({ state }) => state))]
      return { connection: connection?.state, reason: connection?.reason, states }
    }
    const on = { connection: 'on', reason: undefined, states: ['on'] }
    await poll(reported, on)

    await first.stop()
    const reason = expect.stringMatching(/127\.0\.0\.1 could not be reached/)
    await poll(reported, { connection: 'unavailable', reason, states: ['unavailable'] })
    const reasons = (await mcpTools(server)).map((tool) => tool.reason)
    expect(new Set(reasons)).toEqual(new Set([reason]))

    await startEverything('streamableHttp', port)
    await poll(reported, on)
  })
})
