import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { createHandler, McpDependencies } from './server.ts'

/** This server as an MCP server. The protocol code is loaded on first use, since that takes a tenth of a second. */
export function serveMcp(dependencies: McpDependencies) {
  let loaded: Promise<ReturnType<typeof createHandler>> | undefined
  const load = () => {
    loaded ??= import('./server.ts').then(({ createHandler }) => createHandler(dependencies))
    return loaded
  }
  return {
    /** Answers one HTTP request of the protocol. */
    fetch: async (request: Request, parsedBody: unknown, caller: Caller): Promise<Response> =>
      (await load()).fetch(request, parsedBody, caller),
    close: async (): Promise<void> => (await loaded)?.close(),
  }
}
