import { parseArgs } from 'node:util'
import { counted } from '@agent-server/lib/text/counted.ts'
import { type CorpusRecord, openCorpusSource, openCorpusTarget } from '@agent-server/stores'
import { fillIndex } from '../compose/rebuild.ts'
import type { Config } from '../config.ts'
import { moveCorpus, type Watch } from '../documents/transfer/move-corpus.ts'
import { SHARED_INDEXES } from '../features.ts'
import type { Command } from './command.ts'
import { createProgressBar, type ProgressTarget } from './command.ts'

const USAGE = 'Usage: npm run migrate -- --to postgres://… --index http://…'

/**
 * `npm run migrate`: copies the whole corpus of `DATA_DIR` with its vectors into PostgreSQL, and from there into an
 * index that servers share; nothing is embedded again. If interrupted, it resumes when it is run again.
 */
export const runMigrate: Command = async ({
  config: load,
  createLog,
  stderr,
  signal,
  ...context
}) => {
  const destination = readDestination(context.parameters)
  if (!destination) {
    stderr.write(`${USAGE}\n`)
    return 2
  }
  const config = load()
  const targetConfig: Config = { ...config, ...destination }
  await copy(config.DATA_DIR, destination.DATABASE_URL, stderr, signal)
  const log = createLog({ ...config, LOG_LEVEL: 'warn' })
  {
    using bar = createProgressBar(stderr, 'indexing')
    const progress = bar.update
    await fillIndex({ config: targetConfig, log, progress }, signal)
  }
  const names = Object.keys(destination).join(' and ')
  stderr.write(`Everything was copied: set ${names}, and start the servers\n`)
  return 0
}

function readDestination(parameters: readonly string[]) {
  const options = { to: { type: 'string' }, index: { type: 'string' } } as const
  const [shared] = SHARED_INDEXES
  try {
    const { to, index } = parseArgs({ args: [...parameters], options, strict: true }).values
    const isRight = /^postgres(ql)?:\/\//.test(to ?? '') && /^https?:\/\//.test(index ?? '')
    if (!isRight || !URL.canParse(to ?? '') || !URL.canParse(index ?? '')) return undefined
    return { DATABASE_URL: to ?? '', ...(shared && { [shared.address]: index ?? '' }) }
  } catch {
    return undefined
  }
}

async function copy(directory: string, url: string, stderr: ProgressTarget, signal: AbortSignal) {
  let isGoingOn = false
  let counts: Counts = { documents: 0, chunks: 0 }
  const source = await openCorpusSource(directory)
  const watch: Watch = (records, after) => {
    counts = { documents: after?.documents ?? 0, chunks: after?.chunks ?? 0 }
    if (after) stderr.write(`Continuing after ${describe(counts)}\n`)
    else if (isGoingOn) stderr.write('The documents have changed since: starting again\n')
    isGoingOn = after !== undefined
    return watched(records, counts, stderr)
  }
  const isCopied = await moveCorpus(source, await openCorpusTarget(url), watch, signal)
  const outcome = isCopied ? `Copied ${describe(counts)}` : 'The documents were already copied'
  stderr.write(`${outcome}\n`)
}

interface Counts {
  documents: number
  chunks: number
}

function describe({ documents, chunks }: Counts): string {
  return `${counted(documents, 'document')} with ${counted(chunks, 'chunk')}`
}

/** Passes records on, counts them and shows the progress. */
async function* watched(
  records: AsyncIterable<CorpusRecord>,
  counts: Counts,
  stderr: ProgressTarget,
): AsyncGenerator<CorpusRecord> {
  using bar = createProgressBar(stderr, 'copying')
  const before = counts.documents
  let total = 0
  for await (const record of records) {
    if (record.kind === 'start') total = before + record.documents
    else if (record.kind === 'document') counts.documents++
    else if (record.kind === 'chunks') counts.chunks += record.chunks.length
    bar.update(counts.documents, total, counted(counts.chunks, 'chunk'))
    yield record
  }
}
