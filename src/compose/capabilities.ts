import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Environment } from '../lib/environment.ts'
import { createGuardedFetch } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/policy.ts'
import { createBubblewrapSandbox } from '../sandboxes/bubblewrap/bubblewrap-sandbox.ts'
import { createEmbeddedSandbox } from '../sandboxes/embedded/embedded-sandbox.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { SkillList, SkillReload } from '../schemas/agent.ts'
import type { SandboxKind } from '../schemas/sandbox.ts'
import type { AgentConfiguration } from '../services/agent/configuration.ts'
import {
  createToolLock,
  EMPTY_MCP_LOCK,
  MCP_LOCK_FILE,
  McpLock,
} from '../services/mcp/lock-file.ts'
import type { Mcp } from '../services/mcp/mcp.ts'
import type { McpServer } from '../services/mcp/settings.ts'
import {
  type CodeSandbox,
  createCodeSandbox,
  readSandboxSettings,
  type SandboxSettings,
} from '../services/sandbox/code-sandbox.ts'
import {
  createRemoteSkills,
  createSourceReader,
  isRemoteSource,
} from '../services/skills/remote.ts'
import { createSkills, type LoadOptions, type SkillSettings } from '../services/skills/skills.ts'
import { type Artifacts, createArtifacts } from '../services/tools/artifacts.ts'
import type { AgentStores } from '../stores/opened-store.ts'
import type { SkillCopies } from '../stores/skill-copies.ts'

/** Most bytes of one response, which may hold a whole repository. */
const MAX_DOWNLOAD_BYTES = 64_000_000
const SKILL_IDLE_MS = 15_000
/** Time for all sources together, which are read in parallel. */
const LOADING_MS = 60_000

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
  const { sources } = settings
  const skills = createSkills({ settings, read, log })
  const closing = new AbortController()
  const load = (wanted: readonly string[], options: LoadOptions, signal: AbortSignal) => {
    const late = AbortSignal.timeout(LOADING_MS)
    return skills.load(wanted, options, AbortSignal.any([signal, closing.signal, late]))
  }
  await load(sources, { offline: true }, closing.signal)

  return {
    ...skills,
    /** Starts to load remote sources, without waiting for them. */
    start: () => void load(sources.filter(isRemoteSource), {}, closing.signal),
    /** Reads one source again, or all. Throws `invalid_request` for one that is not configured. */
    async reload({ source, accept }: SkillReload, signal: AbortSignal): Promise<SkillList> {
      if (source !== undefined && !sources.includes(source)) {
        const message = 'agent.json does not name this source'
        throw new AppError('invalid_request', message, { param: 'source' })
      }
      await load(source === undefined ? sources : [source], { accept }, signal)
      signal.throwIfAborted()
      return { skills: skills.records() }
    },
    async close() {
      closing.abort(new Error('The server is being stopped'))
      await outbound.close()
    },
  }
}

/** Most bytes of one response; an event stream that reaches it is reconnected. */
const MAX_ANSWER_BYTES = 20_000_000
/** Longer than any call may be silent; each call has a deadline of its own. */
const MCP_IDLE_MS = 630_000

/** Opens the MCP connections; without any, the client is not even loaded. */
export async function composeMcp(
  config: Config,
  servers: Readonly<Record<string, McpServer>>,
  environment: Environment,
  stores: Pick<AgentStores, 'artifacts' | 'openLockFile'>,
  log: FastifyBaseLogger,
): Promise<Mcp> {
  if (Object.keys(servers).length === 0) return NO_CONNECTIONS
  const { createMcp } = await import('../services/mcp/mcp.ts')
  const outbound = createGuardedFetch(createOutboundPolicy(config.OUTBOUND_ALLOW ?? []), {
    maxBytes: MAX_ANSWER_BYTES,
    idleMs: MCP_IDLE_MS,
  })
  const lockFile = await stores.openLockFile(MCP_LOCK_FILE, McpLock, EMPTY_MCP_LOCK)
  const mcp = createMcp({
    ...{ servers, environment, log },
    fetch: outbound.fetch,
    toolLock: createToolLock(lockFile),
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

/** Strongest isolation first: a separate machine, a container, namespaces, WebAssembly. */
const ORDER = ['e2b', 'docker', 'bubblewrap', 'embedded'] as const

/** The sandbox that is configured; with `auto`, all candidates. The others are not loaded. */
export async function composeSandbox(
  config: Config,
  section: AgentConfiguration['sandbox'],
  log: FastifyBaseLogger,
): Promise<CodeSandbox> {
  const settings = readSandboxSettings(section)
  const kinds = ORDER.filter((kind) => isWanted(kind, settings.kind, config))
  const candidates: Sandbox[] = []
  for (const kind of kinds) candidates.push(await create(kind, settings, config, log))
  return createCodeSandbox({ settings, candidates, log })
}

/** A remote sandbox costs money, so `auto` uses it only if there is a key for it. */
function isWanted(kind: SandboxKind, wanted: SandboxSettings['kind'], config: Config): boolean {
  if (wanted !== 'auto') return kind === wanted
  return kind !== 'e2b' || config.E2B_API_KEY !== undefined
}

async function create(
  kind: (typeof ORDER)[number],
  settings: SandboxSettings,
  config: Config,
  log: FastifyBaseLogger,
): Promise<Sandbox> {
  const { limits, image, template, idleSeconds, interpreter } = settings
  switch (kind) {
    case 'embedded':
      return createEmbeddedSandbox({ limits, interpreter })
    case 'bubblewrap':
      return createBubblewrapSandbox({ limits })
    case 'docker': {
      const { createDockerSandbox } = await import('../sandboxes/docker/docker-sandbox.ts')
      const owner = nameOf(config)
      return createDockerSandbox({ limits, image, host: config.DOCKER_HOST, owner, log })
    }
    case 'e2b': {
      const { createE2bSandbox } = await import('../sandboxes/e2b/e2b-sandbox.ts')
      const { E2B_API_KEY: apiKey = '', E2B_API_URL: apiUrl } = config
      return createE2bSandbox({ limits, template, idleSeconds, apiKey, apiUrl, log })
    }
  }
}

/** The server's name: the same after a restart, and unique, since a data directory has one server at a time. */
function nameOf({ DATA_DIR: directory }: Config): string {
  const place = `${hostname()}:${resolve(directory)}`
  return createHash('sha256').update(place).digest('hex').slice(0, 32)
}
