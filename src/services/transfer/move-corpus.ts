import type { Corpus, CorpusRecord, CorpusStart } from '../../stores/corpus.ts'

/** Sees each record on its way. */
export type Watch = (records: AsyncIterable<CorpusRecord>) => AsyncIterable<CorpusRecord>

/**
 * Copies all of one authority into another that holds nothing, vectors included. Answers false, and copies
 * nothing, where an earlier run has done so already. Throws as `Corpus.writeCorpus`.
 */
export async function moveCorpus(
  source: Corpus,
  target: Corpus,
  watch: Watch,
  signal: AbortSignal,
): Promise<boolean> {
  const wanted = await startOf(source, signal)
  const held = await startOf(target, signal).catch(() => {
    signal.throwIfAborted()
    // A target without any tables cannot be read; whatever else is wrong, writing it tells.
    return undefined
  })
  if (wanted && held && isSame(wanted, held)) return false
  await target.writeCorpus(watch(source.readCorpus(signal)), signal)
  return true
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
