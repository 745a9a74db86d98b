import { join } from 'node:path'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { SearchMode } from '@agent-server/schemas/query.ts'
import { pino } from 'pino'
import { compose, openActivity } from '../../src/compose/compose.ts'
import { loadConfig } from '../../src/config.ts'
import { KEY } from './server-process.ts'

/** Opens the search service in this process, without HTTP, on the data of a stopped server. */
export async function openEngine(
  directory: string,
  topK: number,
  environment: Record<string, string> = {},
) {
  const config = loadConfig({
    SERVER_API_KEY: KEY,
    CHAT_MODEL: 'extractive',
    EMBEDDING_MODEL: 'none',
    DATA_DIR: join(directory, 'data'),
    AGENT_CONFIG: join(directory, 'agent.json'),
    ...environment,
  })
  const onFatal = (error: Error) => {
    throw error
  }
  const composition = await compose(config, pino({ level: 'warn' }), onFatal, {
    environment: {},
    given: { variables: {}, file: '.env' },
    activity: openActivity(),
    signal: new AbortController().signal,
    restart: () => undefined,
  })
  await composition.start()
  const { retrieval } = composition.services.corpus.corpusFor(MASTER)
  return {
    search: (query: string, mode?: SearchMode) => retrieval.search({ query, topK, mode }),
    close: composition.close,
  }
}
