import { reEmbedAll } from '../compose/rebuild.ts'
import type { Command } from './command.ts'

/** `npm run re-embed`. Interrupted, it goes on where it was when it is run again. */
export const runReEmbed: Command = async ({ config: load, createLog, stderr, signal }) => {
  const config = load()
  const lineEnd = stderr.isTTY ? '\r' : '\n'
  const report = (done: number, total: number) =>
    void stderr.write(`${done} of ${total} passages embedded${lineEnd}`)
  await reEmbedAll(config, createLog(config), report, signal)
  stderr.write(`\nThe documents are embedded with ${config.EMBEDDING_MODEL}\n`)
  return 0
}

/** `npm run reindex`, as it was called before; it goes with the next release. */
export const runReindex: Command = (context) => {
  context.stderr.write('npm run reindex is called npm run re-embed now\n')
  return runReEmbed(context)
}
