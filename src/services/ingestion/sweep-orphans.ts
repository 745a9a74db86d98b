import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { pause } from '../../lib/abort.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import { untilAvailable } from './availability.ts'

/**
 * Another server's claim may hold keys that are in the index already and not yet in the document store. From one
 * to the other is a moment; however slow both are, no claim takes as long as this.
 */
const GRACE_MS = 3_600_000
const BATCH_REMOVALS = 10_000

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface Dependencies {
  store: Pick<DocumentStore, 'chunkKeys'>
  index: Pick<ChunkIndex, 'remove'>
  log: Log
  graceMs?: number
}

/** Rids a shared index of chunks that the document store lacks: what is never shown may stay a while. */
export interface OrphanSweep {
  /** These keys are in the index and not in the document store. */
  suspect(keys: readonly number[]): void
  /** Takes suspects out once none can be anybody's any more, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>
}

export function createOrphanSweep(dependencies: Dependencies): OrphanSweep {
  const { store, index, log, graceMs = GRACE_MS } = dependencies
  const suspects = new Set<number>()

  const sweep = async (signal: AbortSignal) => {
    const suspected = Uint32Array.from(suspects).sort()
    const { orphans } = compareKeys(suspected, await store.chunkKeys())
    for (let from = 0; from < orphans.length; from += BATCH_REMOVALS) {
      signal.throwIfAborted()
      await index.remove(orphans.slice(from, from + BATCH_REMOVALS))
    }
    suspects.clear()
    log.info({ chunks: orphans.length }, 'search index rid of unknown chunks')
  }

  return {
    suspect(keys) {
      for (const key of keys) suspects.add(key)
    },
    async run(signal) {
      if (suspects.size === 0) return
      try {
        await pause(graceMs, signal)
        await untilAvailable(() => sweep(signal), log, signal)
      } catch (error) {
        // What is left is found again by the next start.
        if (!signal.aborted) log.warn({ err: error }, 'the index keeps unused chunks')
      }
    },
  }
}

interface KeyDifference {
  /** In the index only. */
  orphans: number[]
  /** In the document store only. */
  missing: number[]
}

/** What two ascending lists of keys do not share, in one pass over both. */
export function compareKeys(index: Uint32Array, known: Uint32Array): KeyDifference {
  const orphans: number[] = []
  const missing: number[] = []
  let position = 0
  for (const key of known) {
    let held = index[position]
    while (held !== undefined && held < key) {
      orphans.push(held)
      held = index[++position]
    }
    if (held === key) position++
    else missing.push(key)
  }
  for (const key of index.subarray(position)) orphans.push(key)
  return { orphans, missing }
}
