import { dirname, resolve } from 'node:path'
import { createEncryption } from '@agent-server/lib/encrypted.ts'
import type { Environment } from '@agent-server/lib/environment.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createGuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { type CodeSandbox, openCodeSandbox } from '@agent-server/sandboxes'
import type {
  AcceptedTools,
  ArtifactStore,
  McpAccountStore,
  SkillCopies,
} from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import type { Mcp } from '../agent/mcp/mcp.ts'
import type { McpServer } from '../agent/mcp/settings.ts'
import { createToolLock } from '../agent/mcp/tool-lock.ts'
import { readSandboxSettings, type SandboxSection } from '../agent/sandbox-settings.ts'
import { createRemoteSkills, createSourceReader } from '../agent/skills/remote.ts'
import { openSkills, type SkillSettings } from '../agent/skills/skills.ts'
import { type Artifacts, createArtifacts } from '../agent/tools/artifacts.ts'
import type { Config } from '../config.ts'

/** Most bytes of one response, which may hold a whole repository. */
const MAX_DOWNLOAD_BYTES = 64_000_000
const SKILL_IDLE_MS = 15_000

/** The skills of the agent; paths are relative to the agent configuration. */
export async function composeSkills(
  config: Config,
  settings: SkillSettings,
  copies: SkillCopies,
  log: FastifyBaseLogger,
  changed?: () => void,
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
  const skills = await openSkills({ settings, read, changed, log })
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
  mcpAccounts: McpAccountStore
}

/** What was accepted, for tools that are only tried: new connections are not recorded, and nothing is accepted. */
export const onlyCompared = ({
  accepted,
}: Pick<AcceptedTools, 'accepted'>): McpStores['acceptedTools'] => ({
  see: async (connection, url, tools) => (await accepted(connection, url)) ?? tools,
  accept: async () => undefined,
})

/** Nobody's account is used for what is only tried. */
export const NO_ACCOUNTS: McpAccountStore = {
  find: async () => undefined,
  save: async () => false,
  claim: async () => false,
  renew: async () => false,
  remove: async () => false,
}

/** How MCP servers are called; close it after the connections. */
export const openMcpCalls = ({ OUTBOUND_ALLOW = [] }: Config) =>
  createGuardedFetch(createOutboundPolicy(OUTBOUND_ALLOW), {
    maxBytes: MAX_ANSWER_BYTES,
    idleMs: MCP_IDLE_MS,
  })

export type McpCalls = ReturnType<typeof openMcpCalls>

interface McpParts {
  calls: Pick<McpCalls, 'fetch'>
  config: Pick<Config, 'SERVER_API_KEY' | 'PUBLIC_URL' | 'PORT'>
  environment: Environment
  stores: McpStores
  /** See `createMcp`. */
  existing?: Mcp['servers'] | undefined
  log: FastifyBaseLogger
}

/** Opens the MCP connections; without any, the client is not even loaded. */
export async function composeMcp(
  servers: Readonly<Record<string, McpServer>>,
  { calls, stores: { artifacts, acceptedTools, mcpAccounts }, config, ...parts }: McpParts,
): Promise<Mcp> {
  if (Object.keys(servers).length === 0) {
    const { remove } = mcpAccounts
    return { ...NO_CONNECTIONS, accounts: { ...NO_CONNECTIONS.accounts, remove } }
  }
  const { createMcp } = await import('../agent/mcp/mcp.ts')
  return createMcp({
    ...parts,
    servers,
    fetch: calls.fetch,
    toolLock: createToolLock(acceptedTools),
    artifacts: (): Artifacts => createArtifacts(artifacts),
    accounts: {
      store: mcpAccounts,
      encryption: createEncryption(config.SERVER_API_KEY, 'accounts at MCP servers'),
      address: `${config.PUBLIC_URL ?? `http://localhost:${config.PORT}`}/#/accounts`,
    },
  })
}

function refuse(): never {
  throw new AppError('connection_not_found', 'There are no MCP connections')
}

const NO_CONNECTIONS: Mcp = {
  servers: [],
  start: () => undefined,
  connected: async () => undefined,
  tools: () => [],
  prepare: async () => undefined,
  accounts: {
    list: async () => [],
    page: refuse,
    begin: refuse,
    finish: refuse,
    remove: async () => false,
  },
  records: async () => [],
  test: refuse,
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
