import { UNMETERED } from '@agent-server/models'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { createCitations } from '../../../src/agent/citations/citations.ts'
import { createArtifacts } from '../../../src/agent/tools/artifacts.ts'
import type { ToolContext } from '../../../src/agent/tools/define-tool.ts'
import { createMemoryArtifactStore } from './memory-artifact-store.ts'

/** What a tool may use of a run, on an artifact store in memory that comes with it. */
export function createContext(more: Partial<ToolContext> = {}) {
  const store = createMemoryArtifactStore()
  const { visibility = forCaller(MASTER) } = more
  const context: ToolContext = {
    citations: { ...createCitations(), key: 'k' },
    visibility,
    search: { visibility },
    share: undefined,
    sessionId: 'a-session',
    artifacts: createArtifacts(store),
    activeSkills: new Set(),
    meter: UNMETERED,
    ...more,
  }
  return { ...context, store }
}
