import { parseArgs } from 'node:util'
import { openCorpus } from '../compose/corpus.ts'
import { shareAccepted } from '../compose/move-accepted.ts'
import { fillIndex } from '../compose/rebuild-index.ts'
import type { Config } from '../config.ts'
import { createProgressBar, type ProgressTarget } from '../lib/progress-bar.ts'
import { moveCorpus, type Watch } from '../services/transfer/move-corpus.ts'
import type { Command } from './command.ts'
import { type Counts, told, watched } from './corpus-progress.ts'

const USAGE = 'Usage: npm run migrate -- --to postgres://… --index http://…'

/**
 * `npm run migrate`: the whole corpus of `DATA_DIR` with its vectors into PostgreSQL, and from there into an
 * index in Qdrant; nothing is embedded again. Interrupted, it goes on when it is run again.
 */
export const runMigrate: Command = async ({
  parameters,
  config: load,
  createLog,
  stderr,
  signal,
}) => {
  const destination = readDestination(parameters)
  if (!destination) {
    stderr.write(`${USAGE}\n`)
    return 2
  }
  const config = load()
  const moved: Config = { ...config, ...destination }
  await copy(config, moved, stderr, signal)
  const log = createLog({ ...config, LOG_LEVEL: 'warn' })
  await shareAccepted(moved, log)
  const bar = createProgressBar(stderr, 'indexing')
  try {
    const progress = (done: number, total: number) => bar.update(done, total)
    await fillIndex({ config: { ...moved, ...destination }, log, progress }, signal)
  } finally {
    bar.end()
  }
  stderr.write('Everything is there: set DATABASE_URL and QDRANT_URL, and start the servers\n')
  return 0
}

function readDestination(parameters: readonly string[]) {
  const options = { to: { type: 'string' }, index: { type: 'string' } } as const
  try {
    const { to, index } = parseArgs({ args: [...parameters], options, strict: true }).values
    const isRight = /^postgres(ql)?:\/\//.test(to ?? '') && /^https?:\/\//.test(index ?? '')
    if (!isRight || !URL.canParse(to ?? '') || !URL.canParse(index ?? '')) return undefined
    return { DATABASE_URL: to ?? '', QDRANT_URL: index ?? '' }
  } catch {
    return undefined
  }
}

async function copy(from: Config, to: Config, stderr: ProgressTarget, signal: AbortSignal) {
  let isGoingOn = false
  let counts: Counts = { documents: 0, chunks: 0 }
  const source = openCorpus({ ...from, DATABASE_URL: undefined })
  const watch: Watch = (records, after) => {
    counts = { documents: after?.documents ?? 0, chunks: after?.chunks ?? 0 }
    if (after) stderr.write(`Going on after ${told(counts)}\n`)
    else if (isGoingOn) stderr.write('They have changed since: beginning anew\n')
    isGoingOn = after !== undefined
    return watched(records, counts, stderr, 'copying')
  }
  const isCopied = await moveCorpus(source, openCorpus(to), watch, signal)
  const outcome = isCopied ? `Copied ${told(counts)}` : 'The documents are there already'
  stderr.write(`${outcome}\n`)
}
