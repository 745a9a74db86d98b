import { lstat, readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import type { AgentServer, Metadata } from '../agent-server.ts'
import { type AddSummary, addFiles, type NamedFile } from './add-files.ts'
import {
  type Command,
  type CommandContext,
  EXIT,
  readNumber,
  readPair,
  readParameters,
  readScalar,
  UsageError,
} from './command.ts'
import { PATH } from './file-document.ts'
import { createProgress, plain, type Terminal } from './terminal.ts'
import { walkFolder } from './walk-folder.ts'

const CONCURRENCY = 8
const MAX_CONCURRENCY = 32
/** Retries for about ten minutes while a server is busy or restarting. */
const MAX_RETRIES = 75
const WAIT_SECONDS = 60

const OPTIONS = {
  include: { type: 'string', multiple: true },
  metadata: { type: 'string', multiple: true },
  access: { type: 'string', multiple: true },
  collection: { type: 'string' },
  name: { type: 'string' },
  id: { type: 'string' },
  title: { type: 'string' },
  concurrency: { type: 'string' },
  hidden: { type: 'boolean' },
  delete: { type: 'boolean' },
  // The former name of `--url`, in `npm run ingest`.
  server: { type: 'string' },
} as const

export const add: Command = {
  summary: 'Add files, folders or standard input',
  help: `Usage: agent-server-client add <files, folders or -> [options]

Sends files to the server. Only new and changed files are sent, so an interrupted run can be repeated.

  --include GLOB       only matching paths, such as '**/*.md'; repeatable
  --metadata K=V       metadata of each document, a number or boolean if it is written as one; repeatable
  --collection NAME    collection of each document
  --access ENTRY       who may read each document: user:<id>, group:<id> or public; repeatable
  --name NAME          name of the folder in document ids; default: the folder's name
  --concurrency N      concurrent uploads, 1 to ${MAX_CONCURRENCY}; default: ${CONCURRENCY}
  --hidden             include names that begin with a dot, node_modules and files of the system
  --delete             afterwards, delete documents whose files are no longer in the folders
  --title TITLE        title of standard input
  --id ID              id of standard input; replaces the document with this id
  --json               print the summary as JSON

Exits with status 1 if any file failed.

Examples:
  agent-server-client add handbook --metadata language=en --metadata year=2026
  agent-server-client add handbook --delete
  agent-server-client add report.pdf notes.md
  git log | agent-server-client add - --title 'History' --id history`,
  options: OPTIONS,
  async run(context) {
    const parsed = readAddParameters(context.parameters)
    const { terminal, signal } = context
    if (parsed.paths.length === 1 && parsed.paths[0] === '-') return addInput(parsed, context)
    const { url, metadata, access, collection, concurrency } = parsed
    if (parsed.delete) await refuseFiles(parsed.paths)
    const files = await namedFiles(parsed, signal)
    const client = await connectPatiently(context, url)
    const progress = createProgress(terminal, 'adding')
    try {
      const summary = await addFiles(
        {
          files,
          metadata,
          access,
          collection,
          concurrency,
          client,
          progress: (done, failed) =>
            progress.update(done, files.length, failed ? `${failed} failed` : ''),
        },
        signal,
      )
      progress.end()
      const removed = parsed.delete ? await removeGone(parsed, client, signal) : undefined
      return report(terminal, { ...summary, ...(removed !== undefined && { removed }) })
    } finally {
      progress.end()
      if (signal.aborted) terminal.note('Files already sent are kept; run again to resume')
    }
  },
}

interface AddParameters {
  paths: readonly string[]
  url: string | undefined
  include: readonly string[]
  metadata: Metadata
  access: string[] | undefined
  collection: string | undefined
  name: string | undefined
  id: string | undefined
  title: string | undefined
  concurrency: number
  hidden: boolean
  delete: boolean
}

/** Throws `UsageError` that names the option at fault. */
export function readAddParameters(parameters: readonly string[]): AddParameters {
  const { values, positionals: paths } = readParameters({ parameters }, OPTIONS)
  if (paths.length === 0) throw new UsageError('add takes files, folders or -')
  if (paths.includes('-') && paths.length > 1)
    throw new UsageError("'-' cannot be combined with other paths")
  const bounds = { min: 1, max: MAX_CONCURRENCY }
  const {
    server,
    url = server,
    include = [],
    hidden = false,
    name,
    id,
    title,
    access,
    collection,
  } = values
  if (url !== undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
    throw new UsageError('--url must be a URL that begins with http:// or https://')
  }
  const metadata = Object.fromEntries(
    (values.metadata ?? []).map((pair) => checkMetadata(readPair('metadata', pair))),
  )
  const concurrency = readNumber('concurrency', values.concurrency, bounds) ?? CONCURRENCY
  const isDeleting = values.delete === true
  const facts = { id, title, metadata, access, collection }
  return { paths, url, include, hidden, name, ...facts, concurrency, delete: isDeleting }
}

/** Checks the server's limits, before a thousand files are refused for the same reason. */
function checkMetadata([name, value]: [string, string]): [string, Metadata[string]] {
  if (!/^[A-Za-z_][\w.-]{0,63}$/.test(name)) {
    throw new UsageError(
      '--metadata: a name must start with a letter or _, followed by letters, digits, _ . -',
    )
  }
  if (value.length > 500) throw new UsageError('--metadata: a value must not exceed 500 characters')
  return [name, readScalar(value)]
}

/** All files, each with the path that determines its id. Throws `UsageError` if two would be the same document. */
async function namedFiles(parameters: AddParameters, signal: AbortSignal): Promise<NamedFile[]> {
  const sources = new Map<string, string>()
  const files: NamedFile[] = []
  for (const input of parameters.paths) {
    for (const each of await filesAt(input, parameters, signal)) {
      const other = sources.get(each.path)
      if (other !== undefined && resolve(other) !== resolve(each.file)) {
        throw new UsageError(
          `${other} and ${each.file} would become one document: give each a --name`,
        )
      }
      if (other === undefined) files.push(each)
      sources.set(each.path, each.file)
    }
  }
  return files
}

async function filesAt(
  input: string,
  { name, include, hidden }: AddParameters,
  signal: AbortSignal,
): Promise<NamedFile[]> {
  if ((await stat(input)).isDirectory()) {
    const folder = folderName(input, name)
    const paths = await walkFolder(input, { include, hidden }, signal)
    return paths.map((path) => ({ file: join(input, path), path: `${folder}/${path}` }))
  }
  const path = name === undefined ? basename(input) : `${name}/${basename(input)}`
  return [{ file: input, path }]
}

const folderName = (input: string, name: string | undefined) => name ?? basename(resolve(input))

/** Throws `UsageError` if a path is not a folder, or is empty: its drive may not be mounted. */
async function refuseFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) throw new UsageError('--delete takes folders only')
    if ((await readdir(path)).length === 0) {
      throw new UsageError(`${path} is empty: --delete would delete all documents of this folder`)
    }
  }
}

/**
 * Removes the documents that came from these folders and whose files no longer exist in any folder of that name.
 * Returns their number.
 */
async function removeGone(
  { paths, name }: AddParameters,
  { documents }: AgentServer,
  signal: AbortSignal,
): Promise<number> {
  const orphans: string[] = []
  for (const folder of new Set(paths.map((root) => folderName(root, name)))) {
    const roots = paths.filter((root) => folderName(root, name) === folder)
    // `0` is the character after `/` in code point order.
    const filter = { field: PATH, gte: `${folder}/`, lt: `${folder}0` }
    for await (const { id, metadata } of documents.list({ filter, signal })) {
      const path = String(metadata?.[PATH]).slice(folder.length + 1)
      const existing = await Promise.all(roots.map((root) => mayExist(join(root, path))))
      if (!existing.includes(true)) orphans.push(id)
    }
  }
  for (const id of orphans) await documents.delete(id, { signal })
  return orphans.length
}

/** Whether a file exists, or may exist where this user must not look. */
export async function mayExist(file: string): Promise<boolean> {
  try {
    await lstat(file)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (/^ENO(?:ENT|TDIR)$/.test(code)) return false
    if (/^E(?:ACCES|PERM)$/.test(code)) return true
    throw error
  }
}

/** Fails at once if there is no server; waits for one that becomes unavailable later. */
async function connectPatiently({ connect, signal }: CommandContext, url: string | undefined) {
  const { admin } = await connect(url)
  await admin.health({ signal, maxRetries: 1 })
  return connect(url, { maxRetries: MAX_RETRIES })
}

async function addInput(
  { url, id, title, metadata, access, collection }: AddParameters,
  context: CommandContext,
): Promise<number> {
  const { terminal, signal } = context
  const text = await readText(terminal.stdin)
  const { documents } = await context.connect(url)
  const document = {
    text,
    metadata,
    ...(title !== undefined && { title }),
    ...(access && { access }),
    ...(collection && { collection }),
  }
  const options = { wait: WAIT_SECONDS, signal }
  const created =
    id === undefined
      ? await documents.create(document, options)
      : await documents.replace(id, document, options)
  const { status, error } = created
  if (terminal.json) terminal.printJson(created)
  else terminal.print(`${created.id} ${status}${error ? ` (${plain(error.message)})` : ''}`)
  return status === 'failed' ? EXIT.failed : EXIT.done
}

function report(terminal: Terminal, summary: AddSummary & { removed?: number }): number {
  const { ready, unchanged, leftOut, failed, removed } = summary
  const code = failed.length > 0 ? EXIT.failed : EXIT.done
  if (terminal.json) {
    terminal.printJson(summary)
    return code
  }
  const notRead = Object.values(leftOut).reduce((sum, files) => sum + files, 0)
  const parts = [`${ready} ready`, `${unchanged} unchanged`, `${failed.length} failed`]
  if (notRead > 0) parts.push(`${notRead} left out`)
  if (removed !== undefined) parts.push(`${removed} removed`)
  terminal.print(parts.join(', '))
  for (const { path, reason } of failed) terminal.print(`  ${path}: ${plain(reason)}`)
  for (const [kind, files] of Object.entries(leftOut)) {
    terminal.print(`  skipped as ${kind}: ${files}`)
  }
  return code
}
