import { createProgressBar } from '../lib/progress-bar.ts'
import { type FolderSummary, ingestFolder } from '../services/folder/ingest-folder.ts'
import { createServerClient } from '../services/folder/server-client.ts'
import { walkFolder } from '../services/folder/walk-folder.ts'
import type { Command, CommandContext } from './command.ts'
import { readIngestParameters } from './ingest-parameters.ts'

const USAGE = `Usage: npm run ingest -- <folder> [options]

Sends the files of a folder to a running server. A second run sends only what is new or has changed.

  --server URL       where the server is; by itself the one of this machine
  --include GLOB     only paths that match, such as '**/*.md'; may come several times
  --metadata K=V     added to each document; may come several times
  --name NAME        stands for the folder in the documents' ids; by itself its own name
  --concurrency N    files under way at a time, 1 to 32; by itself 8
  --hidden           also what begins with a dot, and node_modules

The key is SERVER_API_KEY, from the environment or from .env.
`

/** As shells end what SIGINT ended. */
const INTERRUPTED = 130

/** `npm run ingest -- <folder>`. */
export const runIngest: Command = async (context) => {
  const { stderr, environment, signal } = context
  const parsed = readIngestParameters(context.parameters)
  if (!parsed) {
    stderr.write(USAGE)
    return 2
  }
  const { folder, server, metadata, name, concurrency, ...wanted } = parsed
  const url = (server ?? localServer(environment)).replace(/\/+$/, '')
  const key = environment.SERVER_API_KEY
  if (!key) throw new Error('SERVER_API_KEY is required: the key of the server')

  const files = await walkFolder(folder, wanted, signal)
  const bar = createProgressBar(stderr, 'ingesting')
  try {
    const summary = await ingestFolder(
      {
        ...{ folder, files, name, metadata, concurrency },
        client: createServerClient({ url, key }),
        progress: (done, failed) =>
          bar.update(done, files.length, failed ? `${failed} failed` : ''),
      },
      signal,
    )
    bar.end()
    return tell(context, summary)
  } catch (error) {
    bar.end()
    if (!signal.aborted) throw error
    stderr.write('Interrupted: what was sent stays, and another run goes on from there\n')
    return INTERRUPTED
  }
}

function localServer({ HOST, PORT }: NodeJS.ProcessEnv): string {
  const isAnywhere = HOST === undefined || HOST === '0.0.0.0' || HOST === '::'
  const host = isAnywhere ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT ?? 3_000}`
}

/** Answers 1 where a file failed. */
function tell({ stderr }: CommandContext, summary: FolderSummary): number {
  const { ready, unchanged, leftOut, failed } = summary
  const notRead = leftOut.values().reduce((sum, files) => sum + files, 0)
  const parts = [`${ready} ready`, `${unchanged} unchanged`, `${failed.length} failed`]
  if (notRead > 0) parts.push(`${notRead} left out`)
  stderr.write(`${parts.join(', ')}\n`)
  for (const { path, reason } of failed) stderr.write(`  ${path}: ${reason}\n`)
  for (const [kind, files] of leftOut) stderr.write(`  left out as ${kind}: ${files}\n`)
  return failed.length > 0 ? 1 : 0
}
