import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Environment } from '../lib/expand-variables.ts'
import { createGuardedFetch } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/outbound-policy.ts'
import type { Mcp } from '../services/mcp/create-mcp.ts'
import { createPins, MCP_LEDGER, McpPins, NO_PINS } from '../services/mcp/pins.ts'
import type { McpServer } from '../services/mcp/server-settings.ts'
import { type Artifacts, createArtifacts } from '../services/tools/artifacts.ts'
import type { AgentStores } from './agent-stores.ts'

/** Of one answer; an event stream that has reached it is opened anew. */
const MAXIMUM_ANSWER_BYTES = 20_000_000
/** Longer than any call may be silent, which has a deadline of its own. */
const IDLE_MILLISECONDS = 630_000

interface Parts {
  config: Config
  servers: Readonly<Record<string, McpServer>>
  environment: Environment
  stores: Pick<AgentStores, 'artifacts' | 'openLedger'>
  log: FastifyBaseLogger
}

/** Whoever has no MCP servers does not load the client. */
export async function composeMcp({ config, servers, stores, ...parts }: Parts): Promise<Mcp> {
  if (Object.keys(servers).length === 0) return NO_CONNECTIONS
  const { createMcp } = await import('../services/mcp/create-mcp.ts')
  const outbound = createGuardedFetch(createOutboundPolicy(config.OUTBOUND_ALLOW ?? []), {
    maximumBytes: MAXIMUM_ANSWER_BYTES,
    idleMilliseconds: IDLE_MILLISECONDS,
  })
  const ledger = await stores.openLedger(MCP_LEDGER, McpPins, NO_PINS)
  const mcp = createMcp({
    ...{ servers, ...parts },
    fetch: outbound.fetch,
    pins: createPins(ledger),
    artifacts: (): Artifacts => createArtifacts(stores.artifacts),
  })
  return {
    ...mcp,
    async close() {
      await mcp.close()
      await outbound.close()
    },
  }
}

const NO_CONNECTIONS: Mcp = {
  start: () => undefined,
  tools: () => [],
  records: async () => [],
  async test(name) {
    throw new AppError('connection_not_found', `There is no connection "${name}"`)
  },
  close: async () => undefined,
}
