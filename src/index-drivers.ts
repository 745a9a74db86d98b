import { qdrant } from '@agent-server/index-qdrant'
import {
  type AllOf,
  allOf,
  type VariableShape,
  type VariableValues,
} from '@agent-server/lib/variable-types.ts'
import { embedded } from '@agent-server/search'

/** Every kind of index. The first whose address is set is used, and the last has none. */
const DRIVERS = [qdrant, embedded] as const

type Driver = (typeof DRIVERS)[number]

type IndexVariables = AllOf<Driver['variables']> & VariableShape

/** The variables of every kind, and their labels. */
export const INDEX_VARIABLES = allOf(DRIVERS.map(({ variables }) => variables))
export const INDEX_LABELS = allOf(DRIVERS.map(({ labels }) => labels))

/** The kinds that several servers can share, by their addresses. */
export const SHARED_INDEXES = DRIVERS.flatMap(({ name, address, service }) =>
  address === undefined ? [] : [{ name, address, service }],
)

/** The mistakes in how the variables of a kind go together. */
export function checkIndexVariables(set: Readonly<Record<string, string | undefined>>) {
  return DRIVERS.flatMap(({ check }) => check?.(set) ?? [])
}

/** The kind of index that the settings choose. */
export function indexDriver(settings: VariableValues<IndexVariables>): Driver {
  const chosen = DRIVERS.find(({ address }) => address && settings[address] !== undefined)
  return chosen ?? embedded
}
