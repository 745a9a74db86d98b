import {
  type CopyCheckpoint,
  CorpusChanged,
  type CorpusReads,
  type CorpusRecord,
  type CorpusSource,
  type CorpusStart,
  type CorpusTarget,
} from '@agent-server/stores'

/** Observes the records being copied; after an interrupted run, only those after its checkpoint. */
export type Watch = (
  records: AsyncIterable<CorpusRecord>,
  after: CopyCheckpoint | undefined,
) => AsyncIterable<CorpusRecord>

/**
 * Copies the documents of a store, vectors included, into an empty one, and resumes an interrupted run. Returns false,
 * and copies no documents, if an earlier run has completed. Throws like `CorpusTarget.continueAfter`. What was accepted
 * of MCP servers and remote skills comes along: it would be seen there for the first time, and accepted in whatever state
 * it is in by then.
 */
export async function moveCorpus(
  source: CorpusSource,
  target: CorpusTarget,
  watch: Watch,
  signal: AbortSignal,
): Promise<boolean> {
  const checkpoint = await target.copied()
  const isWanted = checkpoint !== undefined || !(await isThere(source, target, signal))
  if (isWanted) await continueCopy(source, target, checkpoint, watch, signal)
  await target.addAccepted(await source.readAccepted())
  return isWanted
}

/** Starts over if the source has changed since, because the parts would be inconsistent. */
async function continueCopy(
  source: CorpusSource,
  target: CorpusTarget,
  checkpoint: CopyCheckpoint | undefined,
  watch: Watch,
  signal: AbortSignal,
): Promise<void> {
  const go = (after: CopyCheckpoint | undefined) =>
    target.continueAfter(after, watch(source.readCorpus(signal, after), after), signal)
  try {
    await go(checkpoint)
  } catch (error) {
    if (!(error instanceof CorpusChanged)) throw error
    await target.forget()
    await go(undefined)
  }
}

async function isThere(
  source: CorpusReads,
  target: CorpusReads,
  signal: AbortSignal,
): Promise<boolean> {
  const sourceStart = await startOf(source, signal)
  const targetStart = await startOf(target, signal).catch(() => {
    signal.throwIfAborted()
    // A target without tables cannot be read; any other problem shows when it is written.
    return undefined
  })
  return sourceStart !== undefined && targetStart !== undefined && isSame(sourceStart, targetStart)
}

async function startOf(corpus: CorpusReads, signal: AbortSignal): Promise<CorpusStart | undefined> {
  for await (const record of corpus.readCorpus(signal)) {
    return record.kind === 'start' ? record : undefined
  }
  return undefined
}

function isSame(source: CorpusStart, target: CorpusStart): boolean {
  return (
    source.documents > 0 &&
    source.documents === target.documents &&
    source.chunks === target.chunks &&
    source.nextChunkKey === target.nextChunkKey
  )
}
