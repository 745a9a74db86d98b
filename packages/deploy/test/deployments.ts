import { readText } from '../../../test/deploy/deployment-files.ts'
import { type Deployment, generate } from '../src/generate.ts'
import { type AgentSource, type DeployedConfiguration, PLATFORMS } from '../src/project.ts'
import type { DeploymentSettings } from '../src/settings.ts'

const PROJECT_FILES = [
  'Dockerfile',
  '.dockerignore',
  'docker-compose.yml',
  ...['kustomization', 'namespace', 'agent-server', 'qdrant'].map(
    (name) => `deploy/kubernetes/${name}.yaml`,
  ),
  ...PLATFORMS.map((name) => `deploy/platforms/${name}.yaml`),
]
const project = {
  version: '1.2.3',
  files: Object.fromEntries(PROJECT_FILES.map((path) => [path, readText(path)])),
}

/** Of an `agent.json` that says nothing. */
const DEFAULTS: DeployedConfiguration = {
  limits: { seconds: 300 },
  mcpServers: {},
  skills: { sources: ['skills'] },
  plugins: [],
  tools: { run_python: true },
  sandbox: 'auto',
}

/** With nothing of its own, or with what `agent.json` says. */
export function agentOf(configuration: object = {}, more: Partial<AgentSource> = {}): AgentSource {
  return { configuration: { ...DEFAULTS, ...configuration }, missing: [], project, ...more }
}

const QDRANT = {
  name: 'Qdrant',
  address: 'QDRANT_URL',
  service: {
    name: 'qdrant',
    key: { variable: 'QDRANT_API_KEY', setting: 'QDRANT__SERVICE__API_KEY' },
  },
}
const VARIABLES = { SERVER_API_KEY: 'the-key-of-the-server', CHAT_MODEL: 'extractive' }

export function settingsOf(
  variables: Record<string, string> = {},
  more: Partial<DeploymentSettings> = {},
): DeploymentSettings {
  return {
    variables: { ...VARIABLES, ...variables },
    grace: 10,
    fileLimit: 200_000_000,
    instances: 1,
    folder: 'deployment/here',
    indexes: [QDRANT],
    ...more,
  }
}

export const SECRETS = {
  CHAT_API_KEY: 'the-key-of-the-model',
  EMBEDDING_API_KEY: 'the-key-of-the-embedder',
  E2B_API_KEY: 'the-key-of-the-sandbox',
  QDRANT_API_KEY: 'the-key-of-the-index',
  WEBHOOK_SECRET: `whsec_${'c2VjcmV0'.repeat(5)}`,
  DATABASE_URL: 'postgres://agent:the-password@database.example.org/agent',
  WEBHOOK_URL: 'https://hooks.example.org/the-path-that-nobody-knows',
  EMBEDDING_BASE_URL: 'https://models.example.org/v1?key=the-parameter',
}
const ENGINES = {
  DATABASE_URL: SECRETS.DATABASE_URL,
  QDRANT_URL: 'https://qdrant.example.org:6333',
}

/** The least that can be deployed to a target. */
export function minimal(target: string): Deployment {
  const hasDisk = ['compose', 'kubernetes', 'fly', 'render', 'railway'].includes(target)
  const agent = agentOf({ tools: { run_python: hasDisk } })
  return generate(agent, settingsOf(hasDisk ? {} : ENGINES, folderOf(target)), target)
}

export const FULL_AGENT = {
  name: 'librarian',
  prompt: 'Answer in $one sentence: "so".',
  skills: { sources: ['./skills', './more/skills', 'github:example/skills/owls'] },
  mcpServers: {
    files: {
      url: 'https://mcp.example.org/files',
      headers: { Authorization: `Bearer ${'$'}{FILES_TOKEN}` },
      enabled: true,
    },
  },
  plugins: ['./plugins/weather.ts'],
  sandbox: 'e2b',
  limits: { seconds: 600 },
}

/** An agent with everything, on PostgreSQL and Qdrant; on Compose and Kubernetes those that are deployed with it. */
export function full(target: string): Deployment {
  const own = {
    ...(target === 'compose' && { DATABASE_URL: 'postgres://agent:the-password@postgres/agent' }),
    ...(['compose', 'kubernetes'].includes(target) && { QDRANT_URL: 'http://qdrant:6333' }),
  }
  const variables = {
    ...SECRETS,
    ...ENGINES,
    ...own,
    EMBEDDING_MODEL: 'small',
    CHAT_MODEL: 'a$b',
    UI: 'off',
  }
  const agent = agentOf(FULL_AGENT, { path: 'config/agent.json' })
  const instances = ['compose', 'kamal'].includes(target) ? 1 : 2
  const more = { ...folderOf(target), instances, domain: 'agent.example.org', grace: 4 }
  const settings = settingsOf({ ...variables, SHUTDOWN_GRACE: '4' }, more)
  return generate(agent, settings, target)
}

function folderOf(target: string) {
  return { folder: `deployment/${target}` }
}

export function filesOf(deployment: Deployment): Readonly<Record<string, string>> {
  if ('refusals' in deployment) throw new Error(JSON.stringify(deployment.refusals))
  return deployment.files
}
