import type { Log } from '@agent-server/lib/log.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex } from '@agent-server/search'
import { type DocumentStore, documentPages } from '@agent-server/stores'
import { refreshLabels } from './document-changes.ts'
import { createReconciliation } from './index-sync.ts'
import type { Preparer } from './preparer.ts'
import { untilAvailable } from './retry-policy.ts'

/** What arrives during a round is added in the next one, each shorter than the one before. */
const MAX_ROUNDS = 10
/** A round that adds no more than this is the last: the new index is then nearly complete. */
const FEW = 200

type FilledIndex = Pick<
  ChunkIndex,
  'keys' | 'add' | 'remove' | 'vectorKeys' | 'addVectors' | 'refreshLabels'
>

interface Filling {
  store: Pick<DocumentStore, 'chunkKeys' | 'readChunks' | 'vectorKeys' | 'readVectors'>
  preparer: Pick<Preparer, 'analyse'>
  /** Whether there are vectors. */
  hybrid: boolean
  /** Called with how many chunks and vectors are done, of how many; those of an earlier run are included. */
  progress: (done: number, total: number) => void
  log: Pick<Log, 'info' | 'warn'>
}

export interface Replacement extends Filling {
  store: Filling['store'] & Pick<DocumentStore, 'retireChunkKeys' | 'list' | 'get' | 'listChunks'>
  /** Not serving yet, and written to by nobody else. */
  next: FilledIndex
  /** Puts it in place of the serving index; returns it under the name that servers use. */
  serve(): Promise<FilledIndex>
  /** Removes the index that served before. */
  drop(): Promise<void>
}

/**
 * Fills a new index from the document store while the old one serves, switches to it, and adds what arrived in the
 * meantime. Throws the reason of `signal`; another run continues where this one stopped.
 *
 * Servers add chunks to an index first and store them second, so chunks that went to the old index could be stored
 * after the last comparison. Therefore documents that were begun before the switch are refused and processed again.
 */
export async function replaceIndex(
  { serve, drop, next, ...parts }: Replacement,
  signal: AbortSignal,
): Promise<void> {
  const since = await lastChange(next, parts.store)
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    if ((await fill(next, parts, signal)) <= FEW) break
  }
  const served = await serve()
  await untilAvailable(parts.store.retireChunkKeys, parts.log, signal)
  await completeIndex(served, parts, signal)
  await refreshChanged(served, parts.store, since, signal)
  await drop()
}

/** When the document store was last changed, by its own clock; 0 for an index that an earlier run has begun. */
async function lastChange(next: FilledIndex, store: Pick<DocumentStore, 'list'>): Promise<number> {
  if ((await next.keys()).length > 0) return 0
  const { documents } = await store.list(everything(), { sort: '-updatedAt', limit: 1 })
  return documents[0]?.updatedAt ?? 0
}

/** Metadata that changed while the new index was filled went to the old one only. */
async function refreshChanged(
  index: FilledIndex,
  store: Replacement['store'],
  since: number,
  signal: AbortSignal,
): Promise<void> {
  const pages = documentPages(store, everything(), { sort: '-updatedAt' }, signal)
  for await (const { documents } of pages) {
    for (const { id, updatedAt } of documents) {
      if (updatedAt < since) return
      signal.throwIfAborted()
      await refreshLabels({ store, index }, id)
    }
  }
}

/** Adds what a serving index lacks. Chunks that only the index has may belong to other servers and stay. */
export async function completeIndex(
  index: FilledIndex,
  parts: Filling,
  signal: AbortSignal,
): Promise<void> {
  const fillParts = { ...parts, sweep: { suspect: () => undefined } }
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    if ((await fill(index, fillParts, signal)) === 0) break
  }
}

/** Returns how many chunks and vectors were missing. */
async function fill(
  index: FilledIndex,
  { progress, ...parts }: Filling & { sweep?: { suspect(): void } },
  signal: AbortSignal,
): Promise<number> {
  const reconciliation = createReconciliation({
    ...parts,
    index,
    onProgress: ({ done, total, present }) =>
      total > 0 && progress(present + done, present + total),
  })
  await untilAvailable(() => reconciliation.run(signal), parts.log, signal)
  return reconciliation.progress().total
}
