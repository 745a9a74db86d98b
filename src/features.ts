import { qdrant } from '@agent-server/index-qdrant'
import { allOf, type VariableValues } from '@agent-server/lib/variable-types.ts'
import { sandboxes } from '@agent-server/sandboxes'
import { embedded } from '@agent-server/search'

const compat = () => import('@agent-server/compat')
const evaluation = () => import('@agent-server/evaluation')
const mcp = () => import('@agent-server/mcp-server')

/**
 * What is installed besides the server's own API. `src/app.ts` checks that it has what the routes of each need. Routes
 * are loaded by a server alone, since the settings are read by every command.
 */
export const FEATURES = [
  { name: 'files', routes: async () => (await compat()).fileSearchRoutes },
  { name: 'embeddings', routes: async () => (await compat()).embeddingRoutes },
  { name: 'messages', routes: async () => (await compat()).messageRoutes },
  { name: 'ollama', routes: async () => (await compat()).ollamaRoutes },
  { name: 'oikb', routes: async () => (await compat()).oikbRoutes },
  { name: 'evaluation', routes: async () => (await evaluation()).evaluationRoutes },
  { name: 'mcp', routes: async () => (await mcp()).mcpRoutes },
  { name: 'sign-in', routes: async () => (await mcp()).signInRoutes },
  qdrant,
  embedded,
  sandboxes,
] as const

const withVariables = FEATURES.filter((feature) => 'variables' in feature)

/** The variables of all, and their labels. */
export const FEATURE_VARIABLES = allOf(withVariables.map(({ variables }) => variables))
export const FEATURE_LABELS = allOf(withVariables.map(({ labels }) => labels))

/** The kinds of index. The first whose address is set is used, and the last has none. */
const INDEXES = FEATURES.filter((feature) => 'create' in feature)

export const INDEX_VARIABLES = allOf(INDEXES.map(({ variables }) => variables))

/** The kinds that several servers can share, by their addresses. */
export const SHARED_INDEXES = INDEXES.flatMap(({ name, address, service }) =>
  address === undefined ? [] : [{ name, address, service }],
)

/** The mistakes in how the variables of a kind of index go together. */
export function checkIndexVariables(set: Readonly<Record<string, string | undefined>>) {
  return INDEXES.flatMap(({ check }) => check?.(set) ?? [])
}

/** The kind of index that the settings choose. */
export function indexDriver(settings: VariableValues<typeof INDEX_VARIABLES>) {
  const chosen = INDEXES.find(({ address }) => address && settings[address] !== undefined)
  return chosen ?? embedded
}
