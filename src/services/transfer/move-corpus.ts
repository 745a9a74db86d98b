import { CorpusChanged } from '../../stores/copy-mark.ts'
import type {
  CopyMark,
  Corpus,
  CorpusCopies,
  CorpusRecord,
  CorpusStart,
} from '../../stores/corpus.ts'

/** Sees each record on its way; of what comes after a mark, where an earlier run was interrupted. */
export type Watch = (
  records: AsyncIterable<CorpusRecord>,
  after: CopyMark | undefined,
) => AsyncIterable<CorpusRecord>

/**
 * Copies all of one authority into another that holds nothing, vectors included, and goes on where an earlier
 * run was interrupted if the other can. Answers false, and copies nothing, where one has done all of it. Throws
 * as `Corpus.writeCorpus`.
 */
export async function moveCorpus(
  source: Corpus,
  target: Corpus,
  watch: Watch,
  signal: AbortSignal,
): Promise<boolean> {
  const begun = await target.copies?.copied()
  if (!begun && (await isThere(source, target, signal))) return false
  if (target.copies) await continueCopy(source, target.copies, begun, watch, signal)
  else await target.writeCorpus(watch(source.readCorpus(signal), undefined), signal)
  return true
}

/** What has changed since is copied from its beginning: its parts would not go together. */
async function continueCopy(
  source: Corpus,
  copies: CorpusCopies,
  begun: CopyMark | undefined,
  watch: Watch,
  signal: AbortSignal,
): Promise<void> {
  const go = (after: CopyMark | undefined) =>
    copies.continueAfter(after, watch(source.readCorpus(signal, after), after), signal)
  try {
    await go(begun)
  } catch (error) {
    if (!(error instanceof CorpusChanged)) throw error
    await copies.forget()
    await go(undefined)
  }
}

async function isThere(source: Corpus, target: Corpus, signal: AbortSignal): Promise<boolean> {
  const wanted = await startOf(source, signal)
  const held = await startOf(target, signal).catch(() => {
    signal.throwIfAborted()
    // A target without any tables cannot be read; whatever else is wrong, writing it tells.
    return undefined
  })
  return wanted !== undefined && held !== undefined && isSame(wanted, held)
}

async function startOf(corpus: Corpus, signal: AbortSignal): Promise<CorpusStart | undefined> {
  for await (const record of corpus.readCorpus(signal)) {
    return record.kind === 'start' ? record : undefined
  }
  return undefined
}

function isSame(wanted: CorpusStart, held: CorpusStart): boolean {
  return (
    wanted.documents > 0 &&
    wanted.documents === held.documents &&
    wanted.chunks === held.chunks &&
    wanted.nextChunkKey === held.nextChunkKey
  )
}
