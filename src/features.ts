import { allOf } from '@agent-server/lib/variable-types.ts'
import { sandboxes } from '@agent-server/sandboxes'

const compat = () => import('@agent-server/compat')
const evaluation = () => import('@agent-server/evaluation')
const mcp = () => import('@agent-server/mcp-server')

/**
 * What is installed besides the server's own API; `src/app.ts` checks that it has what each of them needs. Routes are
 * loaded by a server alone, since the settings are read by every command.
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
  sandboxes,
] as const

const withVariables = FEATURES.filter((feature) => 'variables' in feature)

/** The variables of all, and their labels. */
export const FEATURE_VARIABLES = allOf(withVariables.map(({ variables }) => variables))
export const FEATURE_LABELS = allOf(withVariables.map(({ labels }) => labels))
