import { Capabilities, ToolList } from '@agent-server/schemas/agent.ts'
import { McpTestResult } from '@agent-server/schemas/mcp.ts'
import { expect } from 'vitest'
import { startScriptedUpstream } from './scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from './server.ts'
import { writeAgentFile } from './temporary-files.ts'

const SETTLE_MS = 30_000

/** A whole server with these connections and a scripted model. */
export async function startWith(mcpServers: object, environment: Record<string, string> = {}) {
  const upstream = await startScriptedUpstream()
  const file = await writeAgentFile({ mcpServers })
  const server = await startServer(
    modelAt(upstream, { AGENT_CONFIG: file, OUTBOUND_ALLOW: '127.0.0.1', ...environment }),
  )
  return { server, upstream }
}

/** What /agent/capabilities tells of the connections. */
export async function connections({ request }: TestServer): Promise<Capabilities['mcp']> {
  return Capabilities.parse(await (await request('/agent/capabilities')).json()).mcp
}

/** Polls until the connection is in this state. */
export function settled(server: TestServer, name: string, state: string) {
  return poll(async () => (await connections(server)).find((one) => one.name === name), { state })
}

/** Polls until what `look` finds matches. */
export function poll(look: () => Promise<unknown>, wanted: object) {
  return expect.poll(look, { timeout: SETTLE_MS }).toMatchObject(wanted)
}

/** The tools of MCP servers in /agent/tools. */
export async function mcpTools({ request }: TestServer) {
  const list = ToolList.parse(await (await request('/agent/tools')).json())
  return list.tools.filter(({ source }) => source.startsWith('mcp:'))
}

/** Has a connection tested. */
export async function testOf({ request }: TestServer, name: string, body: object = {}) {
  const response = await request(`/agent/mcp/${name}/test`, { body })
  return McpTestResult.parse(await response.json())
}
