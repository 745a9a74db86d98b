import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { Preparer } from './prepare.ts'
import { createReconciliation, type ReconciliationProgress } from './reconcile-index.ts'
import { untilAvailable } from './until-available.ts'

/** What comes while the new index is filled is fetched in rounds, each shorter than the one before. */
const MOST_ROUNDS = 10
/** A round that adds no more than this is the last: the switch is near enough to what is there. */
const FEW = 200
const PROGRESS_MILLISECONDS = 500

type FillingStore = Pick<DocumentStore, 'chunkKeys' | 'readChunks' | 'vectorKeys' | 'readVectors'>
type FilledIndex = Pick<
  ChunkIndex,
  'keys' | 'add' | 'remove' | 'vectorKeys' | 'addVectors' | 'keepsMetadata'
>

export interface Filling {
  store: FillingStore
  preparer: Pick<Preparer, 'analyse'>
  /** Whether there are vectors. */
  hybrid: boolean
  /** How many chunks and vectors are in it, of how many; those that an earlier run has added are among them. */
  progress: (done: number, total: number) => void
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
}

interface Replacement extends Filling {
  /** Not served yet, and written by nobody else. */
  next: FilledIndex
  /** Puts it in the place of the one that serves; answers it under the name that servers use. */
  serve(): Promise<FilledIndex>
}

/**
 * Fills an index from the authority while another one serves, puts it in that one's place, and adds what
 * came in between. Throws the reason of `signal`; run again, it goes on from there.
 */
export async function replaceIndex(
  { serve, next, ...parts }: Replacement,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    if ((await fill(next, parts, signal)) <= FEW) break
  }
  await completeIndex(await serve(), parts, signal)
}

/** Adds what an index that serves lacks. What it holds beyond the authority may be the servers' and stays. */
export async function completeIndex(
  index: FilledIndex,
  parts: Filling,
  signal: AbortSignal,
): Promise<void> {
  await fill(index, { ...parts, sweep: { suspect: () => undefined } }, signal)
}

/** Answers how much was missing. */
async function fill(
  index: FilledIndex,
  { progress, ...parts }: Filling & { sweep?: { suspect(): void } },
  signal: AbortSignal,
): Promise<number> {
  const reconciliation = createReconciliation({ ...parts, index })
  const tell = () => report(reconciliation.progress(), progress)
  const timer = setInterval(tell, PROGRESS_MILLISECONDS)
  try {
    await untilAvailable(() => reconciliation.run(signal), parts.log, signal)
  } finally {
    clearInterval(timer)
  }
  tell()
  return reconciliation.progress().total
}

function report(
  { done, total, held }: ReconciliationProgress,
  progress: (done: number, total: number) => void,
): void {
  if (total > 0) progress(held + done, held + total)
}
