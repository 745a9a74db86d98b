import { join } from 'node:path'
import { pino } from 'pino'
import { compose } from '../../src/compose/compose.ts'
import { loadConfig } from '../../src/config.ts'
import { MASTER } from '../../src/schemas/operator/api-key.ts'
import { KEY } from './server-process.ts'

/** The search service of the server whose data directory is in `directory`, within this process and without HTTP. */
export async function openEngine(
  directory: string,
  environment: Record<string, string> = { EMBEDDING_MODEL: 'none' },
) {
  const config = loadConfig({
    SERVER_API_KEY: KEY,
    CHAT_MODEL: 'extractive',
    DATA_DIR: join(directory, 'data'),
    AGENT_CONFIG: join(directory, 'agent.json'),
    ...environment,
  })
  const composition = await compose(config, pino({ level: 'warn' }), (error) => {
    throw error
  })
  await composition.start()
  const { retrieval } = composition.services.limitedTo(MASTER)
  return { retrieval, close: composition.close }
}
