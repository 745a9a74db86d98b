import { setTimeout as pause } from 'node:timers/promises'
import {
  type AgentServer,
  AgentServerError,
  AuthenticationError,
  ConnectionError,
  type Document,
  NotFoundError,
  PermissionDeniedError,
  TimeoutError,
} from '../agent-server.ts'
import { describeFile, type GivenFacts, kindNotRead } from './file-document.ts'

const POLL_MS = 1_000
/** How long a stored document may take until it can be found. */
const SETTLING_MS = 600_000

/** A file, and the path that identifies it in ids and metadata: the same in each run. */
export interface NamedFile {
  file: string
  path: string
}

interface AddOptions extends GivenFacts {
  files: readonly NamedFile[]
  /** How many files are in flight at a time. */
  concurrency: number
  client: AgentServer
  progress: (done: number, failed: number) => void
  settlingMs?: number
}

export interface AddSummary {
  ready: number
  unchanged: number
  /** The number of files not sent, by kind: images, archives and the like. */
  leftOut: Record<string, number>
  failed: { path: string; reason: string }[]
}

/**
 * Brings the server's documents up to date with files: new and changed ones are sent, the rest is left alone. A
 * failing file does not stop the others. Throws an error that every other file would meet, too, and the reason of
 * `signal`; another run then continues where this one was.
 */
export async function addFiles(options: AddOptions, signal: AbortSignal): Promise<AddSummary> {
  const { files, concurrency, progress } = options
  const summary: AddSummary = { ready: 0, unchanged: 0, leftOut: {}, failed: [] }
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const queue = files.values()
  let done = 0

  const worker = async () => {
    for (const each of queue) {
      either.throwIfAborted()
      count(await addFile(options, each, either), each.path, summary)
      progress(++done, summary.failed.length)
    }
  }
  const workers = Array.from({ length: concurrency }, worker)
  try {
    await Promise.all(workers)
  } finally {
    stop.abort(new Error('Another file could not be sent'))
    await Promise.allSettled(workers)
  }
  summary.failed.sort((a, b) => (a.path < b.path ? -1 : 1))
  return summary
}

type Outcome = 'ready' | 'unchanged' | { leftOut: string } | { reason: string }

function count(outcome: Outcome, path: string, summary: AddSummary): void {
  const { leftOut } = summary
  if (outcome === 'ready' || outcome === 'unchanged') summary[outcome]++
  else if ('reason' in outcome) summary.failed.push({ path, reason: outcome.reason })
  else leftOut[outcome.leftOut] = (leftOut[outcome.leftOut] ?? 0) + 1
}

async function addFile(
  options: AddOptions,
  { file, path }: NamedFile,
  signal: AbortSignal,
): Promise<Outcome> {
  const { client } = options
  try {
    const leftOut = await kindNotRead(file)
    if (leftOut !== undefined) return { leftOut }
    const document = await describeFile(file, path, options)
    const existing = await find(client, document.id, signal)
    if (existing && document.isIn(existing)) return 'unchanged'
    const created = await document.send(client, signal)
    const outcome = await untilSettled(options, created, signal)
    return outcome.status === 'ready' ? 'ready' : { reason: describe(outcome) }
  } catch (error) {
    signal.throwIfAborted()
    return { reason: reasonOf(error) }
  }
}

async function find({ documents }: AgentServer, id: string, signal: AbortSignal) {
  try {
    return await documents.get(id, { signal })
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'document_not_found') return undefined
    throw error
  }
}

type State = Pick<Document, 'id' | 'status' | 'error'>

async function untilSettled(
  { client, settlingMs = SETTLING_MS }: AddOptions,
  created: State,
  signal: AbortSignal,
): Promise<State> {
  const deadline = performance.now() + settlingMs
  let state = created
  while (state.status === 'pending' || state.status === 'processing') {
    if (performance.now() > deadline) return state
    await pause(POLL_MS, undefined, { signal })
    state = await client.documents.get(created.id, { signal })
  }
  return state
}

function describe({ status, error }: State): string {
  const reason = error ? `${error.code}: ${error.message}` : 'no reason given'
  return status === 'failed' ? reason : `is stored, but still ${status} (${reason})`
}

/** The reason why one file failed; throws an error that every other file would meet, too. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && 'code' in error) {
    return `cannot be read (${error.code})`
  }
  const isOfAll =
    !(error instanceof AgentServerError) ||
    error instanceof AuthenticationError ||
    error instanceof PermissionDeniedError ||
    error instanceof ConnectionError ||
    error instanceof TimeoutError ||
    error.status === 200
  if (isOfAll) throw error
  return `${error.code ?? error.status}: ${error.message}`
}
