import { join } from 'node:path'
import {
  type ChunkIndex,
  createAnalyser,
  type IndexContext,
  type IndexSource,
} from '@agent-server/search'
import type { DocumentStore } from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { indexDriver } from '../features.ts'

type Store = IndexSource & Pick<DocumentStore, 'identity' | 'vectorsGeneration'>

/** The index that is configured, not opened yet. */
export function createIndex(
  config: Config,
  store: Store,
  log: FastifyBaseLogger,
  onCrash: (error: Error) => void,
): Promise<ChunkIndex> {
  return indexDriver(config).create(config, indexContext(config, store, log, onCrash))
}

/** What every index is created with. */
export function indexContext(
  { DATA_DIR, SEARCH_LANGUAGE }: Config,
  source: Store,
  log: FastifyBaseLogger,
  onCrash: (error: Error) => void,
): IndexContext {
  return {
    directory: join(DATA_DIR, 'index'),
    analyser: createAnalyser(SEARCH_LANGUAGE).fingerprint,
    source,
    log,
    onCrash,
  }
}
