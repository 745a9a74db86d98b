import {
  type CopyCheckpoint,
  type Corpus,
  CorpusChanged,
  type CorpusCopies,
  type CorpusRecord,
  type CorpusStart,
} from '@agent-server/stores'

/** Observes the records being copied; after an interrupted run, only those after its checkpoint. */
export type Watch = (
  records: AsyncIterable<CorpusRecord>,
  after: CopyCheckpoint | undefined,
) => AsyncIterable<CorpusRecord>

/**
 * Copies a whole document store, vectors included, into an empty one, and resumes an interrupted run if the target
 * supports that. Returns false, and copies no documents, if an earlier run has completed. Throws like
 * `Corpus.writeCorpus`. What was accepted of MCP servers and remote skills comes along: it would be seen there for the
 * first time, and accepted in whatever state it is in by then.
 */
export async function moveCorpus(
  source: Corpus,
  target: Corpus,
  watch: Watch,
  signal: AbortSignal,
): Promise<boolean> {
  const checkpoint = await target.copies?.copied()
  const isWanted = checkpoint !== undefined || !(await isThere(source, target, signal))
  if (isWanted && target.copies)
    await continueCopy(source, target.copies, checkpoint, watch, signal)
  else if (isWanted) await target.writeCorpus(watch(source.readCorpus(signal), undefined), signal)
  await target.addAccepted(await source.readAccepted())
  return isWanted
}

/** Starts over if the source has changed since, because the parts would be inconsistent. */
async function continueCopy(
  source: Corpus,
  copies: CorpusCopies,
  checkpoint: CopyCheckpoint | undefined,
  watch: Watch,
  signal: AbortSignal,
): Promise<void> {
  const go = (after: CopyCheckpoint | undefined) =>
    copies.continueAfter(after, watch(source.readCorpus(signal, after), after), signal)
  try {
    await go(checkpoint)
  } catch (error) {
    if (!(error instanceof CorpusChanged)) throw error
    await copies.forget()
    await go(undefined)
  }
}

async function isThere(source: Corpus, target: Corpus, signal: AbortSignal): Promise<boolean> {
  const sourceStart = await startOf(source, signal)
  const targetStart = await startOf(target, signal).catch(() => {
    signal.throwIfAborted()
    // A target without tables cannot be read; any other problem shows when it is written.
    return undefined
  })
  return sourceStart !== undefined && targetStart !== undefined && isSame(sourceStart, targetStart)
}

async function startOf(corpus: Corpus, signal: AbortSignal): Promise<CorpusStart | undefined> {
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
