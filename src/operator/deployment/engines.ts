import { SHARED_INDEXES } from '../../index-drivers.ts'

/** An engine that can be deployed along with the server, as a service. */
export interface Engine {
  /** Its name as a service, and as the host of its address. */
  name: string
  /** The variable with its address. */
  address: string
  /** The variable with its key, and the setting of the engine that takes the key. */
  key?: { variable: string; setting: string }
}

export const POSTGRES: Engine = { name: 'postgres', address: 'DATABASE_URL' }

/** Those of indexes, each a service of docker-compose.yml and a file of deploy/kubernetes. */
export const INDEX_ENGINES: readonly Engine[] = SHARED_INDEXES.flatMap(({ address, service }) =>
  service ? [{ address, ...service }] : [],
)

/** The addresses that servers need which share documents and index. */
export const INDEX_ADDRESSES: readonly string[] = SHARED_INDEXES.map(({ address }) => address)
export const INDEX_NAMES = SHARED_INDEXES.map(({ name }) => name).join(' or ')
/** What costs extra wherever servers share documents and index. */
export const SHARED_ENGINES = `PostgreSQL and ${INDEX_NAMES}`
