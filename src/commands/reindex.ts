import { reindex } from '../compose.ts'
import type { Command } from './command.ts'

/** `npm run reindex`. Interrupted, it goes on where it was when it is run again. */
export const runReindex: Command = async ({ config: load, createLog, stderr, signal }) => {
  const config = load()
  const lineEnd = stderr.isTTY ? '\r' : '\n'
  const tell = (done: number, total: number) =>
    void stderr.write(`${done} of ${total} passages embedded${lineEnd}`)
  await reindex(config, createLog(config), tell, signal)
  stderr.write(`\nThe documents are embedded with ${config.EMBEDDING_MODEL}\n`)
  return 0
}
