import { embeddingModel } from '../compose/models.ts'
import { rebuildIndex, reEmbedAll } from '../compose/rebuild.ts'
import { indexDriver, SHARED_INDEXES } from '../features.ts'
import { type Command, createProgressBar } from './command.ts'

/** `npm run re-embed`. If interrupted, it resumes when it is run again. */
export const runReEmbed: Command = async ({ config: load, createLog, stderr, signal }) => {
  const config = load()
  {
    using bar = createProgressBar(stderr, 'embedding')
    await reEmbedAll(config, createLog(config), bar.update, signal)
  }
  stderr.write(`The documents were embedded with ${embeddingModel(config)}\n`)
  return 0
}

/**
 * `npm run rebuild-index`: rebuilds a shared index while the current one serves. If interrupted, it resumes when run
 * again.
 */
export const runRebuildIndex: Command = async ({ config: load, createLog, stderr, signal }) => {
  const config = load()
  if (!indexDriver(config).createNext) {
    const addresses = SHARED_INDEXES.map(({ address }) => address).join(' or ')
    stderr.write(
      `${addresses} is not set: an index in DATA_DIR is rebuilt automatically when necessary\n`,
    )
    return 2
  }
  const log = createLog({ ...config, LOG_LEVEL: 'warn' })
  {
    using bar = createProgressBar(stderr, 'indexing')
    await rebuildIndex({ config, log, progress: bar.update }, signal)
  }
  stderr.write('The new index is in use\n')
  return 0
}
