import type { CorpusRecord } from '../../stores/corpus.ts'

/** Throws, before anything is written, where the vectors of a corpus are not those that the server is set to. */
export async function* fittingCorpus(
  records: AsyncIterable<CorpusRecord>,
  model: string | undefined,
): AsyncGenerator<CorpusRecord> {
  for await (const record of records) {
    if (record.kind === 'start' && model !== undefined && record.chunks > 0) {
      refuseOther(record.embedding?.model, model)
    }
    yield record
  }
}

function refuseOther(kept: string | undefined, model: string): void {
  if (kept === model) return
  const remedy = `unset EMBEDDING_MODEL, import, and run npm run reindex with "${model}"`
  throw new Error(
    kept === undefined
      ? `The corpus has no vectors, but EMBEDDING_MODEL is "${model}": ${remedy}`
      : `The corpus was embedded with "${kept}", but EMBEDDING_MODEL is "${model}": set it to "${kept}", or ${remedy}`,
  )
}
