/** An engine that can be deployed along with the server, as a service. */
export interface Engine {
  /** Its name as a service, and as the host of its address. */
  name: string
  address: string
  /** The variable with its key, and the setting of the engine that takes the key. */
  key?: { variable: string; setting: string }
}

export const POSTGRES: Engine = { name: 'postgres', address: 'DATABASE_URL' }

/** A kind of index that several servers can share. */
interface SharedIndex {
  name: string
  /** The variable with its address. */
  address: string
  /** Its engine: a service of docker-compose.yml, and a file of deploy/kubernetes. */
  service?: Omit<Engine, 'address'> | undefined
}

/** The engines of indexes that can be deployed along with the server. */
export function enginesOf(indexes: readonly SharedIndex[]): Engine[] {
  return indexes.flatMap(({ address, service }) => (service ? [{ address, ...service }] : []))
}

/** The settings of the server as far as a deployment takes them over. */
export interface ServerSettings {
  /** The server's variables that are set, including secrets, whose values are never written anywhere. */
  variables: Readonly<Record<string, string>>
  /** In seconds and in bytes; the server's defaults unless set. */
  grace: number
  fileLimit: number
  indexes: readonly SharedIndex[]
}

export interface DeploymentSettings extends ServerSettings {
  instances: number
  /** The folder for the generated files, relative to the project. */
  folder: string
  domain?: string | undefined
}

/** Something that prevents a deployment, or that should be known about it. */
export interface Problem {
  /** A variable, a field of `agent.json` or an option of the command. */
  field: string
  message: string
  remedy: string
}
