import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { McpServerParts } from './server.ts'

export interface McpEndpoint {
  /** One exchange of the protocol. */
  fetch(request: Request, body: unknown): Promise<Response>
  close(): Promise<void>
}

/** This server as an MCP server; the protocol is loaded when somebody speaks it, since that takes a tenth of a second. */
export function serveMcp(parts: McpServerParts): McpEndpoint {
  let loaded: Promise<McpHttpHandler> | undefined
  const load = () => {
    loaded ??= import('./server.ts').then(({ createHandler }) => createHandler(parts))
    return loaded
  }
  return {
    fetch: async (request, parsedBody) => (await load()).fetch(request, { parsedBody }),
    close: async () => (await loaded)?.close(),
  }
}
