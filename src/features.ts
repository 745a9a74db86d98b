import {
  embeddingRoutes,
  fileSearchRoutes,
  messageRoutes,
  oikbRoutes,
  ollamaRoutes,
} from '@agent-server/compat'
import { evaluationRoutes } from '@agent-server/evaluation'
import { mcpRoutes, signInRoutes } from '@agent-server/mcp-server'

/** What is installed besides the server's own API. `src/app.ts` checks that it has what each of them needs. */
export const FEATURES = [
  { name: 'files', routes: fileSearchRoutes },
  { name: 'embeddings', routes: embeddingRoutes },
  { name: 'messages', routes: messageRoutes },
  { name: 'ollama', routes: ollamaRoutes },
  { name: 'oikb', routes: oikbRoutes },
  { name: 'evaluation', routes: evaluationRoutes },
  { name: 'mcp', routes: mcpRoutes },
  { name: 'sign-in', routes: signInRoutes },
] as const
