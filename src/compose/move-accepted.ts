import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { loadConfiguration } from '../services/agent/configuration.ts'
import { isRemoteSource } from '../services/skills/source-kind.ts'
import { moveAccepted } from '../services/transfer/move-accepted.ts'
import { openAcceptedFiles } from './agent-stores.ts'
import { openStore } from './open-store.ts'

/** Brings what was accepted of MCP servers and remote skills from `DATA_DIR` to the authority that servers share. */
export async function shareAccepted(config: Config, log: FastifyBaseLogger): Promise<void> {
  const { configuration } = await loadConfiguration(config.AGENT_CONFIG)
  const sources = configuration.skills.sources.filter(isRemoteSource)
  const store = await openStore(config, log, (error) =>
    log.error({ err: error }, 'the document store has failed'),
  )
  try {
    if (store.agent) await moveAccepted(await openAcceptedFiles(config), store.agent, sources)
  } finally {
    await store.close()
  }
}
