import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createProgressBar } from '../lib/progress-bar.ts'
import { Metadata } from '../schemas/metadata.ts'
import { type FolderSummary, ingestFolder, walkFolder } from '../services/folder/ingest-folder.ts'
import { createServerClient } from '../services/folder/server-client.ts'
import type { Command, CommandContext } from './command.ts'

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
    return report(context, summary)
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
function report({ stderr }: CommandContext, summary: FolderSummary): number {
  const { ready, unchanged, leftOut, failed } = summary
  const notRead = leftOut.values().reduce((sum, files) => sum + files, 0)
  const parts = [`${ready} ready`, `${unchanged} unchanged`, `${failed.length} failed`]
  if (notRead > 0) parts.push(`${notRead} left out`)
  stderr.write(`${parts.join(', ')}\n`)
  for (const { path, reason } of failed) stderr.write(`  ${path}: ${reason}\n`)
  for (const [kind, files] of leftOut) stderr.write(`  left out as ${kind}: ${files}\n`)
  return failed.length > 0 ? 1 : 0
}

const CONCURRENCY = 8
const MAX_CONCURRENCY = 32

const OPTIONS = {
  server: { type: 'string' },
  include: { type: 'string', multiple: true },
  metadata: { type: 'string', multiple: true },
  name: { type: 'string' },
  concurrency: { type: 'string' },
  hidden: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

interface IngestParameters {
  folder: string
  server: string | undefined
  include: readonly string[]
  metadata: Metadata
  name: string
  concurrency: number
  hidden: boolean
}

/** Nothing where the command is to say how it is called. Throws an Error that names the option at fault. */
export function readIngestParameters(parameters: readonly string[]): IngestParameters | undefined {
  const { values, positionals } = parse([...parameters])
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0 || values.help) return undefined
  const concurrency = Number(values.concurrency ?? CONCURRENCY)
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    throw new Error(`--concurrency must be a number from 1 to ${MAX_CONCURRENCY}`)
  }
  const { server, include = [], hidden = false, name = basename(resolve(folder)) } = values
  if (server !== undefined && !/^https?:$/.test(URL.parse(server)?.protocol ?? '')) {
    throw new Error('--server must be a URL that begins with http:// or https://')
  }
  return {
    folder,
    server,
    include,
    hidden,
    name,
    concurrency,
    metadata: toMetadata(values.metadata ?? []),
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw error instanceof TypeError ? new Error(error.message) : error
  }
}

function toMetadata(pairs: readonly string[]): Metadata {
  const entries = pairs.map((pair) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (name === undefined || value === undefined) {
      throw new Error(`--metadata must be a name and a value, such as language=en, not ${pair}`)
    }
    return [name, value]
  })
  const { data, error } = Metadata.safeParse(Object.fromEntries(entries))
  if (error) throw new Error(`--metadata ${error.issues[0]?.message ?? 'is invalid'}`)
  return data
}
