import { stringify } from 'yaml'
import type { SandboxKind } from '../../schemas/sandbox.ts'
import type { AgentSource } from './project.ts'

/** What a platform is like; where the numbers come from is in docs/deploy.md. */
export interface Facts {
  /** `disk`: a volume of one instance. `none`: what is written is lost, or lies on a network share that SQLite locks up on. */
  storage: 'disk' | 'none'
  /** How long a request may live at most, in seconds; nothing where nobody ends it. */
  requestSeconds?: number
  /** Whether it is in doubt that `requestSeconds` also ends what still shows life. */
  isRequestDoubtful?: boolean
  /** How long a connection may be silent at most, in seconds. */
  silenceSeconds?: number
  /** Between SIGTERM and SIGKILL, in seconds, as long as it can be made. */
  killSeconds: number
  /** Largest body of a request, in bytes. */
  bodyBytes?: number
  sandboxes: readonly SandboxKind[]
  /** Machines come and go with the requests, so code is run elsewhere. */
  isServerless?: boolean
  /** Whether a host name without dots can be another service. */
  hasServiceNames?: boolean
  /** Engines that are deployed beside the server where a URL has their name as its host. */
  engines?: readonly Engine[]
  instances: number
  /** How many proxies of the platform each add an address to `X-Forwarded-For`; nothing where that is not known. */
  proxies?: number
}

export type Engine = 'postgres' | 'qdrant'

export interface DeploymentSettings {
  /** The variables of the server that are set, secrets among them: their values go nowhere. */
  variables: Readonly<Record<string, string>>
  /** In seconds and bytes, as the server has them by default or as they are set. */
  grace: number
  fileLimit: number
  instances: number
  /** Where the files are to lie, relative to the project. */
  folder: string
  domain?: string
}

/** One thing that stands against a deployment or is to be known about it. */
export interface Problem {
  /** A variable, a field of `agent.json` or an option of the command. */
  field: string
  message: string
  remedy: string
}

/** What a renderer goes by: everything decided. */
export interface Plan extends DeploymentSettings {
  agent: AgentSource
  /** Variables with their values, none of them secret. */
  plain: Readonly<Record<string, string>>
  secrets: readonly string[]
  engines: readonly Engine[]
  /** Whether documents and index are in PostgreSQL and Qdrant. */
  isShared: boolean
  killSeconds: number
  requestSeconds: number
}

export interface Command {
  title: string
  run: string
}

export interface Rendering {
  /** By name, within the folder of the deployment. */
  files: Record<string, string>
  /** Before the secrets can be set. */
  prepare?: readonly Command[]
  deploy: readonly Command[]
  update: string
  rollback: string
  backup: string
  costs: string
}

export interface Target {
  name: string
  title: string
  facts: Facts
  /** The command that sets a secret; it asks for the value or takes it from the caller's own environment. */
  setSecret(name: string, plan: Plan): string
  render(plan: Plan): Rendering
}

export const IMAGE = 'agent-server'

/** `SERVER_API_KEY` as `server-api-key`, for platforms whose secrets have names without underscores. */
export function dashed(variable: string): string {
  return variable.toLowerCase().replaceAll('_', '-')
}

/** A command that takes the value of a secret: the server's own key is made up, any other is asked for. */
export function withSecret(name: string, command: (value: string) => string): string {
  if (name === 'SERVER_API_KEY') return command('$(openssl rand -hex 24)')
  return `read -rs value && ${command('$value')}`
}

/** The command that adds a secret to the file `.env` of the folder, there as `entry`. */
export function setInFile(name: string, folder: string, entry = name): string {
  return withSecret(name, (value) => `echo "${entry}=${value}" >> ${folder}/.env`)
}

export const YAML_OPTIONS = { lineWidth: 0, aliasDuplicateObjects: false }

/** For readers of YAML 1.1, too, to whom `off` without quotes is false. */
export function toYaml(value: unknown): string {
  return stringify(value, { ...YAML_OPTIONS, version: '1.1' })
}
