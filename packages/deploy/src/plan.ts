import { isSecret, variablesIn } from '@agent-server/lib/environment.ts'
import type { AgentSource } from './project.ts'
import { type DeploymentSettings, enginesOf, POSTGRES } from './settings.ts'
import type { Plan, Target } from './target.ts'

/** Set by the image or the platform; and the local container engine and folders are not those of the target. */
const FIXED = ['HOST', 'PORT', 'DATA_DIR', 'AGENT_CONFIG', 'DOCKER_HOST', 'WATCH_FOLDERS']
/** Seconds for closing in addition to `SHUTDOWN_GRACE`: the minimum, and what is planned if the platform allows it. */
export const MIN_CLOSING_SECONDS = 4
const CLOSING_SECONDS = 20
/** Seconds that the model gets for its answer once `limits.seconds` have passed. */
export const ANSWER_SECONDS = 60
const DEFAULT_GRACE = 10

/** Decides what is deployed how, with the server's settings lowered to what the platform allows. */
export function planDeployment(
  agent: AgentSource,
  settings: DeploymentSettings,
  { facts }: Target,
): Plan {
  const { variables, indexes } = settings
  const set = Object.entries(variables).filter(([name]) => !FIXED.includes(name))
  const { secret = [], open = [] } = Object.groupBy(set, ([name, value]) =>
    isSecret(name, value) ? 'secret' : 'open',
  )
  const grace = Math.min(settings.grace, facts.killSeconds - MIN_CLOSING_SECONDS)
  const fileLimit = Math.min(settings.fileLimit, facts.bodyBytes ?? Number.POSITIVE_INFINITY)
  const plain = Object.fromEntries(open)
  if (grace !== DEFAULT_GRACE) plain.SHUTDOWN_GRACE = String(grace)
  if (fileLimit !== settings.fileLimit) plain.FILE_LIMIT = String(fileLimit)
  if (facts.proxies !== undefined) plain.TRUST_PROXY ??= String(facts.proxies)
  if (agent.path !== undefined && agent.path !== 'agent.json') {
    plain.AGENT_CONFIG = `/app/${agent.path}`
  }
  const offered = facts.engines ? enginesOf(indexes) : []
  const engines = [...(facts.engines === 'all' ? [POSTGRES] : []), ...offered].filter(
    ({ name, address }) => URL.parse(variables[address] ?? '')?.hostname === name,
  )
  const names = secret.map(([name]) =>
    name === POSTGRES.address && engines.includes(POSTGRES) ? 'POSTGRES_PASSWORD' : name,
  )
  const ofAgent = variablesIn(JSON.stringify(agent.configuration.mcpServers))
  return {
    ...settings,
    agent,
    plain: Object.fromEntries(Object.entries(plain).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    secrets: [...new Set(['SERVER_API_KEY', ...names, ...ofAgent])].toSorted(),
    engines,
    sharedEngines: `PostgreSQL and ${indexes.map(({ name }) => name).join(' or ')}`,
    host: settings.domain?.replace(/:\d+$/, ''),
    isShared: variables.DATABASE_URL !== undefined,
    grace,
    fileLimit,
    killSeconds: Math.min(grace + CLOSING_SECONDS, facts.killSeconds),
    requestSeconds: agent.configuration.limits.seconds + ANSWER_SECONDS,
  }
}
