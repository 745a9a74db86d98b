import { rebuildIndex, reEmbedAll } from '../compose/rebuild.ts'
import { embeddingModel } from '../config.ts'
import type { Command } from './command.ts'
import { createProgressBar } from './command.ts'

/** `npm run re-embed`. If interrupted, it resumes when it is run again. */
export const runReEmbed: Command = async ({ config: load, createLog, stderr, signal }) => {
  const config = load()
  const lineEnd = stderr.isTTY ? '\r' : '\n'
  const report = (done: number, total: number) =>
    void stderr.write(`${done} of ${total} chunks embedded${lineEnd}`)
  await reEmbedAll(config, createLog(config), report, signal)
  stderr.write(`\nThe documents are embedded with ${embeddingModel(config)}\n`)
  return 0
}

/** `npm run reindex`: the former name of re-embed, to be removed with the next release. */
export const runReindex: Command = (context) => {
  context.stderr.write('npm run reindex is called npm run re-embed now\n')
  return runReEmbed(context)
}

/**
 * `npm run rebuild-index`: rebuilds the Qdrant index while the current one serves. If interrupted, it resumes when
 * run again.
 */
export const runRebuildIndex: Command = async ({ config: load, createLog, stderr, signal }) => {
  const config = load()
  const { QDRANT_URL } = config
  if (QDRANT_URL === undefined) {
    stderr.write(
      'There is no QDRANT_URL: an index in DATA_DIR is made anew by itself when it must\n',
    )
    return 2
  }
  const log = createLog({ ...config, LOG_LEVEL: 'warn' })
  {
    using bar = createProgressBar(stderr, 'indexing')
    const progress = bar.update
    await rebuildIndex({ config: { ...config, QDRANT_URL }, log, progress }, signal)
  }
  stderr.write('The new index serves\n')
  return 0
}
