import { openCorpus } from '../compose/corpus.ts'
import { createProgressBar, type ProgressTarget } from '../lib/progress-bar.ts'
import { fittingCorpus } from '../services/transfer/check-fit.ts'
import { readCorpusFile } from '../services/transfer/read-corpus-file.ts'
import { writeCorpusFile } from '../services/transfer/write-corpus-file.ts'
import type { CorpusRecord } from '../stores/corpus.ts'
import type { Command } from './command.ts'

interface Counts {
  documents: number
  chunks: number
}

/** `npm run export -- <file>`: all that the authority holds, at one moment, while the server may go on. */
export const runExport: Command = async ({ parameters, config, stderr, signal }) => {
  const file = onlyFile(parameters)
  if (file === undefined) return refuse(stderr, 'Usage: npm run export -- <file.zst>')
  const counts = { documents: 0, chunks: 0 }
  const records = watched(openCorpus(config()).readCorpus(signal), counts, stderr, 'exporting')
  await writeCorpusFile(file, records, signal)
  stderr.write(`${file} holds ${told(counts)}\n`)
  return 0
}

/** `npm run import -- <file>`: all of an export, into an authority that holds nothing. */
export const runImport: Command = async ({ parameters, config: load, stderr, signal }) => {
  const file = onlyFile(parameters)
  if (file === undefined) return refuse(stderr, 'Usage: npm run import -- <file.zst>')
  const config = load()
  const counts = { documents: 0, chunks: 0 }
  const records = fittingCorpus(readCorpusFile(file, signal), config.EMBEDDING_MODEL)
  await openCorpus(config).writeCorpus(watched(records, counts, stderr, 'importing'), signal)
  stderr.write(`Imported ${told(counts)}\n`)
  return 0
}

function onlyFile([file, ...more]: readonly string[]): string | undefined {
  return more.length > 0 || file?.startsWith('-') ? undefined : file
}

function refuse(stderr: ProgressTarget, usage: string): number {
  stderr.write(`${usage}\n`)
  return 2
}

function told({ documents, chunks }: Counts): string {
  return `${documents} documents with ${chunks} passages`
}

/** Passes records on, counts them and shows how far they have come. */
async function* watched(
  records: AsyncIterable<CorpusRecord>,
  counts: Counts,
  stderr: ProgressTarget,
  label: string,
): AsyncGenerator<CorpusRecord> {
  const bar = createProgressBar(stderr, label)
  let total = 0
  try {
    for await (const record of records) {
      if (record.kind === 'start') total = record.documents
      else if (record.kind === 'document') counts.documents++
      else if (record.kind === 'chunks') counts.chunks += record.chunks.length
      bar.update(counts.documents, total, `${counts.chunks} passages`)
      yield record
    }
  } finally {
    bar.end()
  }
}
