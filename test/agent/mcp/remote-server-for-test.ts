import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { McpServer } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { openSqliteStore } from '../../../packages/stores/test/sqlite/store-data.ts'
import { RemoteServer } from '../../../src/agent/mcp/remote-server.ts'
import { McpServers } from '../../../src/agent/mcp/settings.ts'
import { createToolLock } from '../../../src/agent/mcp/tool-lock.ts'
import { createContext } from '../tools/context-for-test.ts'

/** A connection as the server makes it, to a server on the loopback. */
export async function connectTo(
  url: string,
  more: object = {},
  environment: Record<string, string> = {},
) {
  const { one } = McpServers.parse({ one: { url, timeout: 10, ...more } })
  if (!one) throw new Error('There are no settings')
  const outbound = createGuardedFetch(createOutboundPolicy(['127.0.0.1']), {
    maxBytes: 1_000_000,
    idleMs: 60_000,
  })
  const lines: string[] = []
  const write = (fields: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const { acceptedTools } = await openSqliteStore()
  const server = new RemoteServer({
    name: 'one',
    settings: one,
    environment,
    fetch: outbound.fetch,
    toolLock: createToolLock(acceptedTools),
    log: { info: write, warn: write },
  })
  onTestFinished(async () => {
    await server.connection.close()
    await outbound.close()
  })
  const context = createContext()
  const call = (tool: string, input: unknown = {}, signal = new AbortController().signal) => {
    const found = server.tools.find(({ remote }) => remote.name === tool)
    if (!found) throw new Error(`There is no tool ${tool}`)
    return found.tool.run(input, context, signal)
  }
  return { server, connection: server.connection, call, lines, context }
}

interface Reporting {
  signal: AbortSignal
  /** Tells the client that it goes on. */
  progress(): Promise<void>
}

/** A server with one tool, `work`, that does this. */
export function serverThat(work: (context: Reporting) => Promise<unknown>): () => McpServer {
  return () => {
    const server = new McpServer({ name: 'ours', version: '1.0.0' }, {})
    const config = { description: 'Works', inputSchema: z.object({}) }
    server.registerTool('work', config, async (_input, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      let progress = 0
      const text = await work({
        signal: mcpReq.signal,
        async progress() {
          progress += 1
          if (progressToken === undefined) return
          const params = { progressToken, progress }
          await mcpReq.notify({ method: 'notifications/progress', params })
        },
      })
      return { content: [{ type: 'text', text: String(text) }] }
    })
    return server
  }
}
