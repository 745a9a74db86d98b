import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import { documentPages } from '../../stores/lookup.ts'
import { refreshMetadata } from './document-changes.ts'
import { createReconciliation, readdChunks } from './index-sync.ts'
import type { Preparer } from './preparer.ts'
import { untilAvailable } from './retry-policy.ts'

/** What comes while the new index is filled is fetched in rounds, each shorter than the one before. */
const MAX_ROUNDS = 10
/** A round that adds no more than this is the last: the switch is near enough to what is there. */
const FEW = 200

type FilledIndex = Pick<
  ChunkIndex,
  'keys' | 'add' | 'remove' | 'vectorKeys' | 'addVectors' | 'keepsMetadata'
>

interface Filling {
  store: Pick<DocumentStore, 'chunkKeys' | 'readChunks' | 'vectorKeys' | 'readVectors'>
  preparer: Pick<Preparer, 'analyse'>
  /** Whether there are vectors. */
  hybrid: boolean
  /** How many chunks and vectors are in it, of how many; those that an earlier run has added are among them. */
  progress: (done: number, total: number) => void
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
}

export interface Replacement extends Filling {
  store: Filling['store'] & Pick<DocumentStore, 'retireChunkKeys' | 'list' | 'get' | 'listChunks'>
  /** Not served yet, and written by nobody else. */
  next: FilledIndex
  /** Puts it in the place of the one that serves; answers it under the name that servers use. */
  serve(): Promise<FilledIndex>
  /** Removes the one that served before. */
  drop(): Promise<void>
}

/**
 * Fills an index from the document store while another one serves, puts it in that one's place, and adds what
 * came in between. Throws the reason of `signal`; run again, it goes on from there.
 *
 * Servers put chunks into an index first and keep them in the document store after it: what one has put into the
 * former index could be kept once all has been compared. So whatever was begun before is refused, and begun anew.
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
  if (served.keepsMetadata) await refreshChanged(served, parts, since, signal)
  await drop()
}

/** When the document store was changed last, by its own clock; long ago for an index that an earlier run has begun. */
async function lastChange(next: FilledIndex, store: Pick<DocumentStore, 'list'>): Promise<number> {
  if ((await next.keys()).length > 0) return 0
  const { documents } = await store.list({ sort: '-updatedAt', limit: 1 })
  return documents[0]?.updatedAt ?? 0
}

/** What was changed while the index was filled went to the former one. */
async function refreshChanged(
  index: FilledIndex,
  { store, preparer }: Pick<Replacement, 'store' | 'preparer'>,
  since: number,
  signal: AbortSignal,
): Promise<void> {
  const readd = (keys: readonly number[]) => readdChunks({ store, index, preparer }, keys)
  for await (const documents of documentPages(store, { sort: '-updatedAt' }, signal)) {
    for (const { id, updatedAt } of documents) {
      if (updatedAt < since) return
      signal.throwIfAborted()
      await refreshMetadata({ store, readd }, id)
    }
  }
}

/** Adds what an index that serves lacks. What it holds beyond the document store may be the servers' and stays. */
export async function completeIndex(
  index: FilledIndex,
  parts: Filling,
  signal: AbortSignal,
): Promise<void> {
  const kept = { ...parts, sweep: { suspect: () => undefined } }
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    if ((await fill(index, kept, signal)) === 0) break
  }
}

/** Answers how much was missing. */
async function fill(
  index: FilledIndex,
  { progress, ...parts }: Filling & { sweep?: { suspect(): void } },
  signal: AbortSignal,
): Promise<number> {
  const reconciliation = createReconciliation({
    ...{ ...parts, index },
    onProgress: ({ done, total, held }) => total > 0 && progress(held + done, held + total),
  })
  await untilAvailable(() => reconciliation.run(signal), parts.log, signal)
  return reconciliation.progress().total
}
