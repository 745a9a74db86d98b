import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { startHttp } from './mcp-servers.ts'

/** What a server answers to `tools/list` and `tools/call`, as it stands: no library checks it. */
export interface PlainServer {
  tools: unknown[]
  /** Fields of the listing beside the tools. */
  listing?: object
  call?: (name: string) => object
  /** Fields of the answer to `initialize`. */
  initialize?: object
  /** What its answers are said to be; nothing if it is empty. */
  contentType?: string
}

/** An MCP server of 2025-06-18 that sends whatever it is given. */
export function startPlainMcp(server: PlainServer) {
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await text(incoming)
    if (incoming.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params } = JSON.parse(body)
    if (id === undefined) return void response.writeHead(202).end()
    const result = resultOf(server, method, params)
    const { contentType = 'application/json' } = server
    if (contentType !== '') response.setHeader('content-type', contentType)
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...result }))
  }
  return startHttp((...exchange) => void answer(...exchange))
}

function resultOf(server: PlainServer, method: string, params: { name: string }): object {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'plain', version: '1' },
          ...server.initialize,
        },
      }
    case 'tools/list':
      return { result: { tools: server.tools, ...server.listing } }
    case 'tools/call':
      return { result: server.call?.(params.name) ?? { content: [{ type: 'text', text: 'done' }] } }
    case 'ping':
      return { result: {} }
    default:
      return { error: { code: -32601, message: 'no such method' } }
  }
}
