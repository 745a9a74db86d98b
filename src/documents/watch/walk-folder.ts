import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '@agent-server/lib/system-error.ts'

/** More files should be sent by a program, such as `agent-server-client add`. */
const MAX_FILES = 100_000
/** Hidden files, packages, and what programs write while a file is open or being downloaded. */
const SKIPPED = /^\.|^~\$|^node_modules$|~$|^#.*#$|\.(?:tmp|part|partial|crdownload)$/i
/** What Windows, Linux and network drives put into folders of their own accord. */
const OF_SYSTEMS =
  /^(?:Thumbs\.db|desktop\.ini|@eaDir|[#@]recycle|\$RECYCLE\.BIN|System Volume Information|lost\+found)$/i
/** Stands for bytes of a name that are no UTF-8; such a name leads to no file. */
const UNDECODED = '\uFFFD'

/** Why a folder cannot be followed; the message is for its operator. */
export class FolderError extends Error {
  override readonly name = 'FolderError'
}

/** The content of a folder; paths are relative to it, with `/` between the names. */
export interface FolderScan {
  /** The stamp of each file. */
  files: Map<string, string>
  /** The folder itself (an empty path) and those below it. */
  folders: string[]
  /** Why files and folders could not be read. */
  unread: Map<string, string>
}

/** Differs between two states of a file, unless somebody conceals a change. */
export const stampOf = ({ size, mtimeMs, ctimeMs }: Stats) => `${size} ${mtimeMs} ${ctimeMs}`

/**
 * Reads the state of all files of a folder, one by one: a disk that does not respond must not occupy more than one
 * thread. Symbolic links are not followed. Throws FolderError, the error of reading the folder itself, and the reason
 * of `signal`.
 */
export async function walkFolder(
  root: string,
  signal: AbortSignal,
  maxFiles = MAX_FILES,
): Promise<FolderScan> {
  const scan: FolderScan = { files: new Map(), folders: [], unread: new Map() }
  const waiting = ['']
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for (const entry of await readEntries(root, parent, scan)) {
      signal.throwIfAborted()
      const path = parent === '' ? entry.name : `${parent}/${entry.name}`
      if (entry.isDirectory()) waiting.push(path)
      else await readState(entry, join(root, path), path, scan)
      if (scan.files.size + waiting.length > maxFiles) throw tooMany(maxFiles)
    }
  }
  return scan
}

const tooMany = (most: number) =>
  new FolderError(`The folder holds more than ${most} files: divide it into several`)

async function readEntries(root: string, parent: string, scan: FolderScan): Promise<Dirent[]> {
  try {
    const entries = await readdir(join(root, parent), { withFileTypes: true })
    scan.folders.push(parent)
    return entries.filter(({ name }) => !SKIPPED.test(name) && !OF_SYSTEMS.test(name))
  } catch (error) {
    if (parent === '') throw error
    note(parent, error, scan)
    return []
  }
}

async function readState(
  entry: Dirent,
  file: string,
  path: string,
  scan: FolderScan,
): Promise<void> {
  if (!entry.isFile()) return
  try {
    const state = await lstat(file)
    if (state.isFile()) scan.files.set(path, stampOf(state))
  } catch (error) {
    note(path, error, scan)
  }
}

/** A file that was just removed is no longer in the folder; after any other error it may still be. */
function note(path: string, error: unknown, { unread }: FolderScan): void {
  const code = codeOf(error)
  if (code === 'ENOENT' && path.includes(UNDECODED)) {
    unread.set(path, 'has a name that is not UTF-8: rename it')
    return
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') return
  unread.set(path, `cannot be read (${code})`)
}
