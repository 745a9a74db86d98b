import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createBubblewrapSandbox } from '../sandboxes/bubblewrap/bubblewrap-sandbox.ts'
import { createEmbeddedSandbox } from '../sandboxes/embedded/embedded-sandbox.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { SandboxKind } from '../schemas/sandbox.ts'
import type { AgentConfiguration } from '../services/agent/configuration.ts'
import { type CodeSandbox, createCodeSandbox } from '../services/sandbox/create-code-sandbox.ts'
import { readSandboxSettings, type SandboxSettings } from '../services/sandbox/settings.ts'

/** Strongest first: a machine of its own, a container, namespaces, WebAssembly. */
const ORDER = ['e2b', 'docker', 'bubblewrap', 'embedded'] as const

interface Parts {
  config: Config
  section: AgentConfiguration['sandbox']
  log: FastifyBaseLogger
}

/** The sandbox that is configured; with `auto` all that there might be. What is not wanted is not loaded. */
export async function composeSandbox({ config, section, log }: Parts): Promise<CodeSandbox> {
  const settings = readSandboxSettings(section)
  const kinds = ORDER.filter((kind) => isWanted(kind, settings.kind, config))
  const candidates: Sandbox[] = []
  for (const kind of kinds) candidates.push(await create(kind, settings, config, log))
  return createCodeSandbox({ settings, candidates, log })
}

/** A remote sandbox costs money, so `auto` takes it only where there is a key for it. */
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

/** The same after a restart, and another for each server: a data directory has one server at a time. */
function nameOf({ DATA_DIR: directory }: Config): string {
  const place = `${hostname()}:${resolve(directory)}`
  return createHash('sha256').update(place).digest('hex').slice(0, 32)
}
