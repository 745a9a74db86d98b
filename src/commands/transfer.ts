import { openCorpus } from '../compose/corpus.ts'
import type { ProgressTarget } from '../lib/progress-bar.ts'
import { fittingCorpus } from '../services/transfer/check-fit.ts'
import { readCorpusFile } from '../services/transfer/read-corpus-file.ts'
import { writeCorpusFile } from '../services/transfer/write-corpus-file.ts'
import type { Command } from './command.ts'
import { told, watched } from './corpus-progress.ts'

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
