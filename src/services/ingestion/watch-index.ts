import { AppError } from '../../errors.ts'
import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { createOutage } from '../outage.ts'

export type FedIndex = Pick<ChunkIndex, 'add' | 'addVectors' | 'remove'>

export interface WatchedIndex {
  index: FedIndex
  /** How long to leave the index alone, in milliseconds; 0 while it works. */
  pauseMilliseconds(): number
  /** It failed when it was last asked. */
  isDown(): boolean
}

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The index with a memory for its outages, so that no document is prepared for one that is down. */
export function watchIndex(index: FedIndex, log: Log, now: () => number): WatchedIndex {
  const outage = createOutage({
    name: 'the search index',
    consequence: 'documents wait, searches fail',
    ...{ log, now },
  })
  const attempt = async (work: () => Promise<void>) => {
    outage.enter()
    try {
      await work()
      outage.ended()
    } catch (error) {
      if (error instanceof AppError && error.code === 'index_unavailable') outage.failed(error)
      throw error
    }
  }

  return {
    index: {
      add: (keys, terms, metadata) => attempt(() => index.add(keys, terms, metadata)),
      addVectors: (batch, metadata) => attempt(() => index.addVectors(batch, metadata)),
      remove: (keys) => attempt(() => index.remove(keys)),
    },
    pauseMilliseconds: outage.pauseMilliseconds,
    isDown: outage.isDown,
  }
}
