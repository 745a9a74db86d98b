import { createProgressBar, type ProgressTarget } from '../lib/progress-bar.ts'
import type { CorpusRecord } from '../stores/corpus.ts'

export interface Counts {
  documents: number
  chunks: number
}

export function told({ documents, chunks }: Counts): string {
  return `${documents} documents with ${chunks} passages`
}

/** Passes records on, counts them and shows how far they have come. */
export async function* watched(
  records: AsyncIterable<CorpusRecord>,
  counts: Counts,
  stderr: ProgressTarget,
  label: string,
): AsyncGenerator<CorpusRecord> {
  const bar = createProgressBar(stderr, label)
  const before = counts.documents
  let total = 0
  try {
    for await (const record of records) {
      if (record.kind === 'start') total = before + record.documents
      else if (record.kind === 'document') counts.documents++
      else if (record.kind === 'chunks') counts.chunks += record.chunks.length
      bar.update(counts.documents, total, `${counts.chunks} passages`)
      yield record
    }
  } finally {
    bar.end()
  }
}
