import type { Capabilities, Tool } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { usePolled } from '../poll.ts'
import { agentEditor } from './agent-editor.ts'
import { serverState } from './server-state.ts'

const POLL_MS = 15_000

export interface LoadedAgent {
  tools: readonly Tool[]
  /** Absent while the server is not launched. */
  capabilities?: Capabilities
  /** Reads it again, after something that changes it. */
  refresh: () => Promise<void>
}

/** What the agent that runs has loaded. The cards work without. */
export function useLoadedAgent(): LoadedAgent {
  const { value, refresh } = usePolled(
    readLoaded,
    POLL_MS,
    `${serverState.value?.startedAt} ${agentEditor.file.value?.digest}`,
  )
  return { tools: [], ...value.value, refresh }
}

async function readLoaded() {
  if (serverState.value && serverState.value.state !== 'running') return undefined
  const [tools, capabilities] = await Promise.all([
    client.agent.tools(),
    client.agent.capabilities(),
  ])
  return { tools, capabilities }
}
