import { AgentServer, type AgentServerOptions } from '../../packages/client/src/agent-server.ts'
import { TEST_KEY } from './server.ts'

/** The project's own client of a server. */
export function clientOf({ url }: { url: string }, options: AgentServerOptions = {}): AgentServer {
  return new AgentServer({ baseURL: url, apiKey: TEST_KEY, ...options })
}
