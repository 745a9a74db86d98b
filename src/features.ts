import { embeddingRoutes } from './dialects/embeddings/routes.ts'
import { fileSearchRoutes } from './dialects/files/routes.ts'
import { mcpRoutes } from './dialects/mcp/routes.ts'
import { messageRoutes } from './dialects/messages/routes.ts'
import { oikbRoutes } from './dialects/oikb/routes.ts'
import { ollamaRoutes } from './dialects/ollama/routes.ts'

/** What is installed besides the server's own API. `src/app.ts` checks that it has what each of them needs. */
export const FEATURES = [
  { name: 'files', routes: fileSearchRoutes },
  { name: 'embeddings', routes: embeddingRoutes },
  { name: 'messages', routes: messageRoutes },
  { name: 'ollama', routes: ollamaRoutes },
  { name: 'oikb', routes: oikbRoutes },
  { name: 'mcp', routes: mcpRoutes },
] as const
