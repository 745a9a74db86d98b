import type { ChunkIndexDriver } from '../driver.ts'
import { createEmbeddedIndex } from './embedded-index.ts'

/** The index in this process, which needs no settings. */
export const embedded: ChunkIndexDriver<Record<never, never>> = {
  name: 'embedded index',
  variables: {},
  labels: {},
  async create(_settings, { analyser, source, ...context }) {
    const identity = await source.identity()
    return createEmbeddedIndex({
      ...context,
      source,
      // The database in its place may use the same keys.
      fingerprint: `${analyser} of ${identity}`,
      vectorFingerprint: `${await source.vectorsGeneration()} of ${identity}`,
    })
  },
}
