import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { openSession } from '../../../src/agent/mcp/session.ts'

/**
 * Our connection as the client that the protocol's own conformance suite examines: it connects to the address
 * that it is given, lists the tools, and calls each. See docs/guides/mcp.md for the command.
 */
const DEADLINE_MS = 20_000
const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const outbound = createGuardedFetch(createOutboundPolicy(LOOPBACK), {
  maxBytes: 1_000_000,
  idleMs: DEADLINE_MS,
})
const signal = AbortSignal.timeout(DEADLINE_MS)
const oauth = { clientId: context.client_id, clientSecret: context.client_secret }
const session = await openSession(
  {
    url: new URL(process.argv.at(-1) ?? ''),
    headers: {},
    transports: ['streamable-http', 'sse'],
    listMs: DEADLINE_MS,
    fetch: outbound.fetch,
    ...(context.client_id && { oauth }),
  },
  { toolsChanged: () => undefined, trouble: () => undefined },
  signal,
)
const tools = await session.listTools(signal)
/** One scenario asks for the schema of its first tool again. */
const inputOf = (name: string) =>
  name === 'json_schema_echo' ? { schema: tools[0]?.inputSchema } : { a: 2, b: 3 }
/** What a scenario wants to see called; where it says nothing, each tool is. */
const calls: { name: string; arguments: Record<string, unknown> }[] =
  context.toolCalls ?? tools.map(({ name }) => ({ name, arguments: inputOf(name) }))
for (const { name, arguments: input } of calls) {
  const tool = tools.find((each) => each.name === name)
  if (!tool) throw new Error(`There is no tool "${name}"`)
  await session.callTool({ tool, input, idleMs: DEADLINE_MS }, signal)
}
await session.close()
await outbound.close()
