import { dirname, resolve } from 'node:path'
import type { Environment } from '@agent-server/lib/environment.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { type CodeSandbox, openCodeSandbox } from '@agent-server/sandboxes'
import type { FastifyBaseLogger } from 'fastify'
import type { Mcp } from '../agent/mcp/mcp.ts'
import type { McpServer } from '../agent/mcp/settings.ts'
import { createToolLock } from '../agent/mcp/tool-lock.ts'
import { readSandboxSettings, type SandboxSection } from '../agent/sandbox-settings.ts'
import { createRemoteSkills, createSourceReader } from '../agent/skills/remote.ts'
import { openSkills, type SkillSettings } from '../agent/skills/skills.ts'
import { type Artifacts, createArtifacts } from '../agent/tools/artifacts.ts'
import type { Config } from '../config.ts'
import type { AcceptedTools, SkillCopies } from '../stores/accepted.ts'
import type { ArtifactStore } from '../stores/artifact-store.ts'

/** Most bytes of one response, which may hold a whole repository. */
const MAX_DOWNLOAD_BYTES = 64_000_000
const SKILL_IDLE_MS = 15_000

/** The skills of the agent; paths are relative to the agent configuration. */
export async function composeSkills(
  config: Config,
  settings: SkillSettings,
  copies: SkillCopies,
  log: FastifyBaseLogger,
) {
  const base = dirname(resolve(config.AGENT_CONFIG))
  const outbound = createGuardedFetch(createOutboundPolicy(config.OUTBOUND_ALLOW ?? []), {
    maxBytes: MAX_DOWNLOAD_BYTES,
    idleMs: SKILL_IDLE_MS,
  })
  const read = createSourceReader({
    resolve: (source) => resolve(base, source),
    remote: createRemoteSkills(copies),
    fetch: outbound.fetch,
  })
  const skills = await openSkills({ settings, read, log })
  return {
    ...skills,
    async close() {
      skills.close()
      await outbound.close()
    },
  }
}

/** Most bytes of one response; an event stream that reaches it is reconnected. */
const MAX_ANSWER_BYTES = 20_000_000
/** Longer than any idle timeout of a call; each call has its own deadline. */
const MCP_IDLE_MS = 630_000

interface McpStores {
  artifacts: ArtifactStore
  acceptedTools: Pick<AcceptedTools, 'see' | 'accept'>
}

/** What was accepted, for tools that are only tried: new connections are not recorded, and nothing is accepted. */
export const onlyCompared = ({
  accepted,
}: Pick<AcceptedTools, 'accepted'>): McpStores['acceptedTools'] => ({
  see: async (connection, url, tools) => (await accepted(connection, url)) ?? tools,
  accept: async () => undefined,
})

/** How MCP servers are called; close it after the connections. */
export const openMcpCalls = ({ OUTBOUND_ALLOW = [] }: Config) =>
  createGuardedFetch(createOutboundPolicy(OUTBOUND_ALLOW), {
    maxBytes: MAX_ANSWER_BYTES,
    idleMs: MCP_IDLE_MS,
  })

export type McpCalls = ReturnType<typeof openMcpCalls>

interface McpParts {
  calls: Pick<McpCalls, 'fetch'>
  environment: Environment
  stores: McpStores
  /** See `createMcp`. */
  existing?: Mcp['servers'] | undefined
  log: FastifyBaseLogger
}

/** Opens the MCP connections; without any, the client is not even loaded. */
export async function composeMcp(
  servers: Readonly<Record<string, McpServer>>,
  { calls, stores: { artifacts, acceptedTools }, ...parts }: McpParts,
): Promise<Mcp> {
  if (Object.keys(servers).length === 0) return NO_CONNECTIONS
  const { createMcp } = await import('../agent/mcp/mcp.ts')
  return createMcp({
    ...parts,
    servers,
    fetch: calls.fetch,
    toolLock: createToolLock(acceptedTools),
    artifacts: (): Artifacts => createArtifacts(artifacts),
  })
}

const NO_CONNECTIONS: Mcp = {
  servers: [],
  start: () => undefined,
  connected: async () => undefined,
  tools: () => [],
  records: async () => [],
  async test(name) {
    throw new AppError('connection_not_found', `There is no MCP connection "${name}"`)
  },
  close: async () => undefined,
}

/** Leftovers of an earlier sandbox of the same owner are removed. */
export function composeSandbox(
  config: Config,
  section: SandboxSection,
  log: FastifyBaseLogger,
  owner = config.DATA_DIR,
): Promise<CodeSandbox> {
  return openCodeSandbox({
    settings: readSandboxSettings(section),
    dockerHost: config.DOCKER_HOST,
    e2bKey: config.E2B_API_KEY,
    e2bUrl: config.E2B_API_URL,
    owner,
    log,
  })
}
