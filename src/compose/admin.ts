import { join } from 'node:path'
import type { Config } from '../config.ts'
import { createAgentFile } from '../services/admin/agent-file.ts'
import type { LoadedConfiguration } from '../services/agent/configuration.ts'

interface Parts {
  config: Config
  loaded: Pick<LoadedConfiguration, 'changedFields'>
  /** What there is to say of the skills at this moment. */
  catalogue: () => string
}

/** How the server is set up, for whoever runs it. */
export function composeAdmin({ config, loaded, catalogue }: Parts) {
  return {
    agentFile: createAgentFile({
      path: config.AGENT_CONFIG,
      directory: join(config.DATA_DIR, 'agent-versions'),
      changedFields: loaded.changedFields,
      catalogue,
    }),
  }
}
