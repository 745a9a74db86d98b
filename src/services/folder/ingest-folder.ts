import type { Dirent } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Metadata } from '../../schemas/metadata.ts'
import { kindNotRead, MARK_BYTES } from '../extraction/extract-file.ts'
import {
  DIGEST,
  describeFile,
  type FileDocument,
  FileRefusal,
  type Seen,
  type ServerClient,
} from './server-client.ts'

const POLL_MS = 1_000
/** How long a document that is stored may take until it can be found. */
const SETTLING_MS = 600_000

interface FolderOptions {
  folder: string
  /** Paths relative to the folder. */
  files: readonly string[]
  /** Stands before each path: the same folder must go by the same name in each run. */
  name: string
  metadata: Metadata
  concurrency: number
  client: ServerClient
  progress: (done: number, failed: number) => void
  settlingMs?: number
}

interface FailedFile {
  path: string
  reason: string
}

export interface FolderSummary {
  ready: number
  unchanged: number
  /** How many files were not sent, by what they are: images, archives and the like. */
  leftOut: Map<string, number>
  failed: FailedFile[]
}

/**
 * Brings the server's documents up to what a folder holds: what is new or has changed is sent, the rest is
 * left alone. A file fails alone; throws where nothing can go on, and what `signal` is aborted with, after
 * which another run goes on where this one was.
 */
export async function ingestFolder(
  options: FolderOptions,
  signal: AbortSignal,
): Promise<FolderSummary> {
  const { files, concurrency, progress } = options
  const summary: FolderSummary = { ready: 0, unchanged: 0, leftOut: new Map(), failed: [] }
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const queue = files.values()
  let done = 0

  const worker = async () => {
    for (const path of queue) {
      either.throwIfAborted()
      count(await ingestFile(options, path, either), path, summary)
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

function count(outcome: Outcome, path: string, summary: FolderSummary): void {
  const { leftOut } = summary
  if (outcome === 'ready' || outcome === 'unchanged') summary[outcome]++
  else if ('reason' in outcome) summary.failed.push({ path, reason: outcome.reason })
  else leftOut.set(outcome.leftOut, (leftOut.get(outcome.leftOut) ?? 0) + 1)
}

async function ingestFile(
  options: FolderOptions,
  path: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { folder, name, metadata, client } = options
  try {
    const file = join(folder, path)
    const leftOut = kindNotRead(await readStart(file))
    if (leftOut !== undefined) return { leftOut }
    const document = await describeFile(file, `${name}/${path}`, metadata)
    const known = await client.get(document.id, signal)
    if (known?.status === 'ready' && isOf(document, known)) return 'unchanged'
    const { status, error } = await client.put(document, signal)
    if (status === 'ready') return 'ready'
    const settled =
      status === 'failed' ? { status, error } : await untilSettled(options, document, signal)
    return settled.status === 'ready' ? 'ready' : { reason: describe(settled) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof FileRefusal) return { reason: error.message }
    if (isUnreadable(error)) return { reason: `cannot be read (${error.code})` }
    throw error
  }
}

async function readStart(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MARK_BYTES), 0, MARK_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

function isOf({ digest }: FileDocument, { metadata }: Seen): boolean {
  return metadata?.[DIGEST] === digest
}

async function untilSettled(
  { client, settlingMs = SETTLING_MS }: FolderOptions,
  { id }: FileDocument,
  signal: AbortSignal,
): Promise<Pick<Seen, 'status' | 'error'>> {
  const deadline = performance.now() + settlingMs
  for (;;) {
    const seen = await client.get(id, signal)
    if (!seen) throw new FileRefusal('The document was deleted meanwhile')
    const isSettled = seen.status === 'ready' || seen.status === 'failed'
    if (isSettled || performance.now() > deadline) return seen
    await pause(POLL_MS, undefined, { signal })
  }
}

function describe({ status, error }: Pick<Seen, 'status' | 'error'>): string {
  const reason = error ? `${error.code}: ${error.message}` : 'no reason told'
  return status === 'failed' ? reason : `is stored, but still ${status} (${reason})`
}

function isUnreadable(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error
}

/** More belong into several folders, or into a program of their own. */
const MAX_FILES = 1_000_000

interface WalkOptions {
  /** Patterns of which a path must match one; none means all. */
  include: readonly string[]
  /** Also what begins with a dot, and node_modules. */
  hidden: boolean
}

/**
 * The paths of all files beneath a folder, relative to it, with `/` between their parts, sorted. What a
 * symbolic link points to is not in the folder, and so left out.
 */
export async function walkFolder(
  folder: string,
  { include, hidden }: WalkOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const root = await realpath(folder)
  const files: string[] = []
  const waiting = ['']
  const isIncluded = (path: string) =>
    include.length === 0 || include.some((pattern) => matchesGlob(path, pattern))

  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    signal.throwIfAborted()
    const entries = await readFolder(join(root, parent), hidden)
    const pathOf = ({ name }: Dirent) => (parent === '' ? name : `${parent}/${name}`)
    waiting.push(...entries.filter((entry) => entry.isDirectory()).map(pathOf))
    files.push(
      ...entries
        .filter((entry) => entry.isFile())
        .map(pathOf)
        .filter(isIncluded),
    )
    if (files.length > MAX_FILES) throw new Error(`${folder} has more than ${MAX_FILES} files`)
  }
  return files.sort()
}

async function readFolder(path: string, hidden: boolean): Promise<Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter(({ name }) => hidden || !(name.startsWith('.') || name === 'node_modules'))
}
