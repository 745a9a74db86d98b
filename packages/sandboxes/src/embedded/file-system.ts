import {
  Directory,
  File,
  type Inode,
  OpenDirectory,
  OpenFile,
  wasi,
} from '@bjorn3/browser_wasi_shim'

const MAX_NAME_BYTES = 255

/** The entries of a directory; tells subdirectories whether they are still in a directory. */
class Entries extends Map<string, Inode> {
  override set(name: string, entry: Inode) {
    this.delete(name)
    if (entry instanceof MemoryDirectory) entry.isRemoved = false
    return super.set(name, entry)
  }

  override delete(name: string) {
    const entry = this.get(name)
    if (entry instanceof MemoryDirectory) entry.isRemoved = true
    return super.delete(name)
  }
}

/** A directory whose new entries count towards the quota. Once removed, it accepts no more entries. */
export class MemoryDirectory extends Directory {
  readonly quota: Quota
  isRemoved = false

  constructor(quota: Quota) {
    super(new Entries())
    this.quota = quota
  }

  override create_entry_for_path(path: string, isDirectory: boolean) {
    if (this.isRemoved) return { ret: wasi.ERRNO_NOENT, entry: null }
    const parts = resolve(path)
    const name = parts?.pop()
    if (parts === undefined || name === undefined) {
      return { ret: wasi.ERRNO_NOTCAPABLE, entry: null }
    }
    let parent: Inode | undefined = this
    for (const part of parts) {
      parent = parent instanceof MemoryDirectory ? parent.contents.get(part) : undefined
    }
    if (!(parent instanceof MemoryDirectory)) return { ret: wasi.ERRNO_NOENT, entry: null }
    return parent.#create(name, isDirectory)
  }

  /** Creates the file and its parent directories; undefined if there is no room or the path is blocked. */
  place(name: string, bytes: Uint8Array): MemoryFile | undefined {
    const parts = name.split('/')
    let entry: Inode | null = this
    for (const [index, part] of parts.entries()) {
      if (!(entry instanceof MemoryDirectory)) return undefined
      const isDirectory = index < parts.length - 1
      entry = entry.contents.get(part) ?? entry.#create(part, isDirectory).entry
    }
    if (!(entry instanceof MemoryFile) || !entry.resize(0)) return undefined
    return entry.write(bytes, 0) ? entry : undefined
  }

  #create(name: string, isDirectory: boolean): { ret: number; entry: Inode | null } {
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
      return { ret: wasi.ERRNO_NAMETOOLONG, entry: null }
    }
    if (!this.quota.take(0, 1)) return { ret: wasi.ERRNO_NOSPC, entry: null }
    const entry = isDirectory ? new MemoryDirectory(this.quota) : new MemoryFile(this.quota)
    this.contents.set(name, entry)
    return { ret: wasi.ERRNO_SUCCESS, entry }
  }
}

/** Every entry below the directories, with its path; each hard link to a file is listed separately. */
function* entriesBelow(...roots: MemoryDirectory[]): Generator<{ name: string; entry: Inode }> {
  const pending = roots.map((directory) => ({ directory, path: '' }))
  // A directory that was moved into itself forms a cycle.
  const visited = new Set<Inode>()
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (visited.has(next.directory)) continue
    visited.add(next.directory)
    for (const [name, entry] of next.directory.contents) {
      const path = `${next.path}${name}`
      yield { name: path, entry }
      if (entry instanceof MemoryDirectory) pending.push({ directory: entry, path: `${path}/` })
    }
  }
}

/** Every file below the root with its path; hard links to a file are each listed. */
export function* filesBelow(root: MemoryDirectory): Generator<{ name: string; file: MemoryFile }> {
  for (const { name, entry } of entriesBelow(root)) {
    if (entry instanceof MemoryFile) yield { name, file: entry }
  }
}

/** The usage of all entries below the root, and of files that are deleted but still open. */
export function measureUsage(root: MemoryDirectory, descriptors: Iterable<unknown>): Usage {
  const directories = new Set([root])
  const files = new Set<MemoryFile>()
  for (const open of descriptors) {
    if (open instanceof OpenMemoryFile) files.add(open.file)
    const directory = open instanceof OpenDirectory ? open.dir : undefined
    if (directory instanceof MemoryDirectory) directories.add(directory)
  }
  let entries = 0
  for (const { entry } of entriesBelow(...directories)) {
    entries += 1
    if (entry instanceof MemoryFile) files.add(entry)
  }
  let bytes = 0
  for (const { data } of files) bytes += data.byteLength
  return { bytes, nodes: entries + directories.size - 1 + files.size }
}

/** The steps of a path below the directory; undefined if the path leads out of it. */
function resolve(path: string): string[] | undefined {
  const steps: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') steps.push(part)
    else if (steps.pop() === undefined) return undefined
  }
  return steps
}

/** Offsets of the access, modification and change times in a WASI file status. */
const TIME_OFFSETS = [40, 48, 56]
const NANOSECONDS_PER_MILLISECOND = 1_000_000n

/** An in-memory file that grows in place, within a quota, and knows whether it was changed. */
export class MemoryFile extends File {
  readonly quota: Quota
  changed = false
  readonly #buffer: ArrayBuffer
  #modified = Date.now()

  constructor(quota: Quota) {
    super([])
    this.quota = quota
    this.#buffer = new ArrayBuffer(0, { maxByteLength: quota.most.bytes })
    // A typed array created without a length follows the length of the resizable buffer.
    this.data = new Uint8Array(this.#buffer)
  }

  /** Returns false if there is no room. */
  write(bytes: Uint8Array, position: number): boolean {
    const end = position + bytes.byteLength
    if (position < 0 || (end > this.data.byteLength && !this.resize(end))) return false
    this.data.set(bytes, position)
    this.#touch()
    return true
  }

  /** Returns false if there is no room. Added bytes are zero. */
  resize(size: number): boolean {
    if (size < 0 || size > this.#buffer.maxByteLength) return false
    const more = size - this.data.byteLength
    if (more > 0 && !this.quota.take(more, 0)) return false
    this.#buffer.resize(size)
    this.#touch()
    return true
  }

  #touch(): void {
    this.changed = true
    this.#modified = Date.now()
  }

  override path_open(oflags: number, _rights: bigint, flags: number) {
    if ((oflags & wasi.OFLAGS_TRUNC) !== 0) this.resize(0)
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenMemoryFile(this, flags) }
  }

  override stat(): wasi.Filestat {
    const modified = BigInt(this.#modified) * NANOSECONDS_PER_MILLISECOND
    return new FileStatus(this.ino, this.size, modified)
  }
}

/** The shim writes no times, and nonzero ones to the wrong offsets; archive formats allow no year before 1980. */
class FileStatus extends wasi.Filestat {
  readonly #modified: bigint

  constructor(node: bigint, size: bigint, modified: bigint) {
    super(node, wasi.FILETYPE_REGULAR_FILE, size)
    this.#modified = modified
  }

  override write_bytes(view: DataView, at: number): void {
    super.write_bytes(view, at)
    for (const offset of TIME_OFFSETS) view.setBigUint64(at + offset, this.#modified, true)
  }
}

/** An open file: overrides the shim where an operation takes up room. */
class OpenMemoryFile extends OpenFile {
  declare readonly file: MemoryFile
  readonly #appends: boolean

  constructor(file: MemoryFile, flags: number) {
    super(file)
    this.#appends = (flags & wasi.FDFLAGS_APPEND) !== 0
  }

  override fd_allocate(offset: bigint, length: bigint): number {
    const end = offset + length
    return this.fd_filestat_set_size(end > this.file.size ? end : this.file.size)
  }

  override fd_filestat_set_size(size: bigint): number {
    return this.file.resize(Number(size)) ? wasi.ERRNO_SUCCESS : wasi.ERRNO_NOSPC
  }

  override fd_write(data: Uint8Array) {
    if (this.#appends) this.file_pos = this.file.size
    const result = this.fd_pwrite(data, this.file_pos)
    this.file_pos += BigInt(result.nwritten)
    return result
  }

  override fd_pwrite(data: Uint8Array, offset: bigint) {
    const fits = this.file.write(data, Number(offset))
    if (!fits) return { ret: wasi.ERRNO_NOSPC, nwritten: 0 }
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength }
  }
}

/** What the files of a sandbox take up, or may take up. */
interface Usage {
  bytes: number
  nodes: number
}

export type Quota = ReturnType<typeof createQuota>

/**
 * Adds up usage as files grow, and calls `measure`, which walks the whole file system, only when the sum is above the
 * limit.
 */
export function createQuota(most: Usage, measure: () => Usage) {
  let usage: Usage = { bytes: 0, nodes: 0 }
  const fits = (bytes: number, nodes: number) =>
    usage.bytes + bytes <= most.bytes && usage.nodes + nodes <= most.nodes

  return {
    most,
    /** Reserves `bytes` and `nodes` and returns true; returns false if they do not fit. */
    take(bytes: number, nodes: number): boolean {
      // Deletions are not counted as they happen; only measuring takes them into account.
      if (!fits(bytes, nodes)) usage = measure()
      if (!fits(bytes, nodes)) return false
      usage.bytes += bytes
      usage.nodes += nodes
      return true
    },
  }
}
