import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Capabilities, Tool } from '../../client/src/agent-server.ts'
import { client } from '../api.ts'
import { serverState } from './server-state.ts'

export interface LoadedAgent {
  tools: readonly Tool[]
  /** Absent while the server is not launched. */
  capabilities?: Capabilities
}

/** What the agent that runs has loaded. */
export function useLoadedAgent() {
  const loaded = useSignal<LoadedAgent>({ tools: [] })
  useEffect(() => {
    if (serverState.value && serverState.value.state !== 'running') return
    Promise.all([client.agent.tools(), client.agent.capabilities()]).then(
      ([tools, capabilities]) => {
        loaded.value = { tools, capabilities }
      },
      // The cards work without.
      () => undefined,
    )
  }, [])
  return loaded
}
