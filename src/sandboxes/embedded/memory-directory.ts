import { Directory, type Inode, wasi } from '@bjorn3/browser_wasi_shim'
import { MemoryFile } from './memory-file.ts'
import type { Quota, Usage } from './quota.ts'

const MAXIMUM_NAME_BYTES = 255

/** A directory whose new entries count towards the quota. */
export class MemoryDirectory extends Directory {
  readonly quota: Quota

  constructor(quota: Quota) {
    super(new Map())
    this.quota = quota
  }

  override create_entry_for_path(path: string, isDirectory: boolean) {
    const parts = resolve(path)
    const name = parts?.pop()
    if (parts === undefined || name === undefined) {
      return { ret: wasi.ERRNO_NOTCAPABLE, entry: null }
    }
    const parent = this.#find(parts)
    if (!parent) return { ret: wasi.ERRNO_NOENT, entry: null }
    return parent.#create(name, isDirectory)
  }

  /** Makes the file, and the directories on the way to it; nothing where there is no room, or no way. */
  place(name: string, bytes: Uint8Array): MemoryFile | undefined {
    const parts = name.split('/')
    const last = parts.pop() ?? ''
    let directory: MemoryDirectory = this
    for (const part of parts) {
      const next = directory.contents.get(part) ?? directory.#create(part, true).entry
      if (!(next instanceof MemoryDirectory)) return undefined
      directory = next
    }
    const existing = directory.contents.get(last)
    const file = existing ?? directory.#create(last, false).entry
    if (!(file instanceof MemoryFile) || !file.resize(0)) return undefined
    return file.write(bytes, 0) ? file : undefined
  }

  #find(parts: readonly string[]): MemoryDirectory | undefined {
    let directory: MemoryDirectory = this
    for (const part of parts) {
      const next = directory.contents.get(part)
      if (!(next instanceof MemoryDirectory)) return undefined
      directory = next
    }
    return directory
  }

  #create(name: string, isDirectory: boolean): { ret: number; entry: Inode | null } {
    if (Buffer.byteLength(name) > MAXIMUM_NAME_BYTES) {
      return { ret: wasi.ERRNO_NAMETOOLONG, entry: null }
    }
    if (!this.quota.take(0, 1)) return { ret: wasi.ERRNO_NOSPC, entry: null }
    const entry = isDirectory ? new MemoryDirectory(this.quota) : new MemoryFile(this.quota)
    this.contents.set(name, entry)
    return { ret: wasi.ERRNO_SUCCESS, entry }
  }
}

/** Every file below a directory with its path; links to one file are each named. */
export function* filesBelow(
  directory: MemoryDirectory,
  path = '',
): Generator<{ name: string; file: MemoryFile }> {
  const pending = [{ directory, path }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    for (const [name, entry] of next.directory.contents) {
      if (entry instanceof MemoryFile) yield { name: `${next.path}${name}`, file: entry }
      if (entry instanceof MemoryDirectory) {
        pending.push({ directory: entry, path: `${next.path}${name}/` })
      }
    }
  }
}

/** What all entries below the directories take, and the files that are open though deleted. */
export function measureUsage(root: MemoryDirectory, open: Iterable<MemoryFile>): Usage {
  const files = new Set(open)
  let nodes = 0
  const pending: MemoryDirectory[] = [root]
  for (let directory = pending.pop(); directory; directory = pending.pop()) {
    nodes += directory.contents.size
    for (const entry of directory.contents.values()) {
      if (entry instanceof MemoryFile) files.add(entry)
      if (entry instanceof MemoryDirectory) pending.push(entry)
    }
  }
  let bytes = 0
  for (const { capacity } of files) bytes += capacity
  return { bytes, nodes: nodes + files.size }
}

/** The steps of a path below the directory; nothing where it leads out of it. */
function resolve(path: string): string[] | undefined {
  const steps: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') steps.push(part)
    else if (steps.pop() === undefined) return undefined
  }
  return steps
}
