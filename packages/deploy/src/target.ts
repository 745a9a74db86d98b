import type { SandboxChoice } from '@agent-server/schemas/sandbox.ts'
import { parse, stringify } from 'yaml'
import type { AgentSource } from './project.ts'
import type { DeploymentSettings, Engine } from './settings.ts'

/** Properties of a platform, as its documentation states them. */
export interface Facts {
  /** `disk`: a volume of one instance. `none`: files are lost, or on a network share, where SQLite locks up. */
  storage: 'disk' | 'none'
  /** The maximum duration of a request in seconds; absent if there is none. */
  requestSeconds?: number
  /** Whether it is uncertain that `requestSeconds` also ends a request that still sends data. */
  isRequestDoubtful?: boolean
  /** The maximum idle time of a connection in seconds; absent if there is none. */
  silenceSeconds?: number
  /** Seconds between SIGTERM and SIGKILL, at the highest setting. */
  killSeconds: number
  /** The maximum size of a request body in bytes; absent if there is none. */
  bodyBytes?: number
  sandboxes: readonly SandboxChoice[]
  /** Whether machines come and go with requests, so that code must be run elsewhere. */
  isServerless?: boolean
  /** Whether a host name without dots can be another service. */
  hasServiceNames?: boolean
  /** The name by which a container reaches the machine that it runs on; absent if it cannot. */
  machine?: string
  /** Which engines are deployed along with the server if a URL has their name as its host. */
  engines?: 'indexes' | 'all'
  instances: number
  /** How many of the platform's proxies add an address to `X-Forwarded-For`; absent if that is not known. */
  proxies?: number
}

/** Everything that a renderer needs, fully decided. */
export interface Plan extends DeploymentSettings {
  agent: AgentSource
  /** Variables with their values, none of them secret. */
  plain: Readonly<Record<string, string>>
  secrets: readonly string[]
  engines: readonly Engine[]
  /** What costs extra wherever servers share documents and index, in words. */
  sharedEngines: string
  /** Whether documents and index are where several servers can share them. */
  isShared: boolean
  /** The domain's name for DNS and certificates, without a port. */
  host: string | undefined
  killSeconds: number
  requestSeconds: number
}

export interface Command {
  title: string
  run: string
}

export interface Rendering {
  /** By name, within the folder of the deployment; those of the image are added. */
  files: Record<string, string>
  /** Commands to run before the secrets can be set. */
  prepare?: readonly Command[]
  deploy: readonly Command[]
  /** Commands to run after these if there is a domain. */
  domain?: readonly Command[]
  update: string
  rollback: string
  /** The backup of documents that the servers themselves keep; absent if they never do. */
  backup?: string
  costs: string
}

export interface Target {
  name: string
  title: string
  facts: Facts
  /** The command that sets a secret; it asks for the value or takes it from the user's own environment. */
  setSecret(name: string, plan: Plan): string
  render(plan: Plan): Rendering
}

export const IMAGE = 'agent-server'

/** `SERVER_API_KEY` as `server-api-key`, for platforms that allow no underscores in the names of secrets. */
export function dashed(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '-')
}

/** The environment of a server: an entry for each setting, then one for each secret. */
export function entriesOf<Entry>(
  { plain, secrets }: Plan,
  toSetting: (name: string, value: string) => Entry,
  toSecret: (name: string) => Entry,
): Entry[] {
  const settings = Object.entries(plain).map(([name, value]) => toSetting(name, value))
  return [...settings, ...secrets.map(toSecret)]
}

const GENERATED = ['SERVER_API_KEY', 'POSTGRES_PASSWORD']

/** A command with the value of a secret: what only this deployment uses is generated, any other is asked for. */
export function withSecret(name: string, command: (value: string) => string): string {
  if (GENERATED.includes(name)) return command('$(openssl rand -hex 24)')
  return `read -rs value && ${command('$value')}`
}

/** The command that appends a secret, under the name `entry`, to the file `.env` of the folder. */
export function setInFile(name: string, { folder }: Plan, entry = name): string {
  return withSecret(name, (value) => `echo "${entry}=${value}" >> ${folder}/.env`)
}

/** The command that builds the image from the project's folder and pushes it to its registry. */
export function buildAndPush({ folder }: Plan, tag: string): string {
  return `docker build --platform linux/amd64 --file ${folder}/Dockerfile --tag ${tag} . && docker push ${tag}`
}

/** The step that creates the volume, if documents are stored on one. */
export function makeVolume({ isShared }: Plan, run: string): Command[] {
  return isShared ? [] : [{ title: 'Create the volume for the documents', run }]
}

export const YAML_OPTIONS = { lineWidth: 0, aliasDuplicateObjects: false }

/** Also correct for YAML 1.1 parsers, which read an unquoted `off` as false. */
export function toYaml(value: unknown): string {
  return stringify(value, { ...YAML_OPTIONS, version: '1.1' })
}

const PLACEHOLDER = /"?\$\{(\w+)\}"?/g

/** A file of deploy/platforms with the values of this deployment. What has none is left out. */
export function fill(
  plan: Plan,
  platform: string,
  more: Readonly<Record<string, unknown>>,
): string {
  const { project } = plan.agent
  const values: Record<string, unknown> = {
    VERSION: project.version,
    INSTANCES: plan.instances,
    KILL_SECONDS: plan.killSeconds,
    REQUEST_SECONDS: plan.requestSeconds,
    ...more,
  }
  const text = project.files[`deploy/platforms/${platform}.yaml`] ?? ''
  // JSON is YAML, too.
  const filled = text.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
    const json = JSON.stringify(values[name] ?? null)
    return placeholder.startsWith('"') ? JSON.stringify(json) : json
  })
  return toYaml(parse(filled, (_key, value: unknown) => value ?? undefined))
}
