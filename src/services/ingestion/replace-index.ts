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

export type FillingStore = Pick<
  DocumentStore,
  'chunkKeys' | 'readChunks' | 'vectorKeys' | 'readVectors'
>
type FilledIndex = Pick<ChunkIndex, 'keys' | 'add' | 'remove' | 'vectorKeys' | 'addVectors'>

interface Replacement {
  store: FillingStore
  preparer: Pick<Preparer, 'analyse'>
  /** Whether there are vectors. */
  hybrid: boolean
  /** Not served yet, and written by nobody else. */
  next: FilledIndex
  /** Puts it in the place of the one that serves; answers it under the name that servers use. */
  serve(): Promise<FilledIndex>
  progress: (done: number, total: number) => void
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
}

/**
 * Fills an index from the authority while another one serves, puts it in that one's place, and adds what
 * came in between. Throws the reason of `signal`; run again, it goes on from there.
 */
export async function replaceIndex(
  { serve, next, progress, ...parts }: Replacement,
  signal: AbortSignal,
): Promise<void> {
  const { log } = parts
  const fill = async (index: FilledIndex, sweep?: { suspect(): void }) => {
    const reconciliation = createReconciliation({ ...parts, index, ...(sweep && { sweep }) })
    const tell = () => report(reconciliation.progress(), progress)
    const timer = setInterval(tell, PROGRESS_MILLISECONDS)
    try {
      await untilAvailable(() => reconciliation.run(signal), log, signal)
    } finally {
      clearInterval(timer)
    }
    tell()
    return reconciliation.progress().total
  }
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    if ((await fill(next)) <= FEW) break
  }
  const served = await serve()
  // Servers write to it from now on: what it holds beyond the authority may be theirs.
  await fill(served, { suspect: () => undefined })
}

function report(
  { done, total }: ReconciliationProgress,
  progress: (done: number, total: number) => void,
): void {
  if (total > 0) progress(done, total)
}
