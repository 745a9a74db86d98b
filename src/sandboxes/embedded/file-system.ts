import { Directory, Fd, Inode, wasi } from '@bjorn3/browser_wasi_shim'

const MAX_NAME_BYTES = 255

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
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
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

/** Of the times of access, modification and change in a file's status. */
const TIME_OFFSETS = [40, 48, 56]
const NANOSECONDS_PER_MILLISECOND = 1_000_000n

/** A file in memory that grows by doubling, within a quota, and knows whether it was changed. */
export class MemoryFile extends Inode {
  readonly quota: Quota
  changed = false
  #data = new Uint8Array(0)
  #size = 0
  #modified = Date.now()

  constructor(quota: Quota) {
    super()
    this.quota = quota
  }

  get bytes(): Uint8Array {
    return this.#data.subarray(0, this.#size)
  }

  /** What it takes of the quota. */
  get capacity(): number {
    return this.#data.byteLength
  }

  /** False where there is no room. */
  write(bytes: Uint8Array, position: number): boolean {
    const end = position + bytes.byteLength
    if (!this.#reserve(end)) return false
    this.#data.set(bytes, position)
    this.#size = Math.max(this.#size, end)
    this.#touch()
    return true
  }

  /** False where there is no room; what is beyond the old size reads as zeros. */
  resize(size: number): boolean {
    if (!this.#reserve(size)) return false
    if (size < this.#size) this.#data = this.#data.slice(0, size)
    this.#size = size
    this.#touch()
    return true
  }

  #reserve(size: number): boolean {
    if (!Number.isSafeInteger(size)) return false
    if (size <= this.#data.byteLength) return true
    const roomy = Math.max(size, this.#data.byteLength * 2)
    return this.#grow(roomy) || this.#grow(size)
  }

  #grow(capacity: number): boolean {
    if (!this.quota.take(capacity - this.#data.byteLength, 0)) return false
    const data = new Uint8Array(capacity)
    data.set(this.bytes)
    this.#data = data
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
    return new FileStatus(this.ino, BigInt(this.#size), modified)
  }
}

/** The shim writes no times, and others than zero to the wrong places; archives know no year before 1980. */
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

/** An open file with its position. */
export class OpenMemoryFile extends Fd {
  readonly file: MemoryFile
  readonly #appends: boolean
  #position = 0

  constructor(file: MemoryFile, flags: number) {
    super()
    this.file = file
    this.#appends = (flags & wasi.FDFLAGS_APPEND) !== 0
  }

  override fd_fdstat_get() {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_REGULAR_FILE, 0)
    return { ret: wasi.ERRNO_SUCCESS, fdstat }
  }

  override fd_filestat_get() {
    return { ret: wasi.ERRNO_SUCCESS, filestat: this.file.stat() }
  }

  override fd_allocate(offset: bigint, length: bigint): number {
    const size = Math.max(Number(offset + length), this.file.bytes.byteLength)
    return this.file.resize(size) ? wasi.ERRNO_SUCCESS : wasi.ERRNO_NOSPC
  }

  override fd_filestat_set_size(size: bigint): number {
    return this.file.resize(Number(size)) ? wasi.ERRNO_SUCCESS : wasi.ERRNO_NOSPC
  }

  override fd_read(size: number) {
    const { data } = this.fd_pread(size, BigInt(this.#position))
    this.#position += data.byteLength
    return { ret: wasi.ERRNO_SUCCESS, data }
  }

  override fd_pread(size: number, offset: bigint) {
    const start = Number(offset)
    const data = this.file.bytes.subarray(start, start + size)
    return { ret: wasi.ERRNO_SUCCESS, data }
  }

  override fd_write(data: Uint8Array) {
    if (this.#appends) this.#position = this.file.bytes.byteLength
    const written = this.fd_pwrite(data, BigInt(this.#position))
    this.#position += written.nwritten
    return written
  }

  override fd_pwrite(data: Uint8Array, offset: bigint) {
    const fits = this.file.write(data, Number(offset))
    if (!fits) return { ret: wasi.ERRNO_NOSPC, nwritten: 0 }
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength }
  }

  override fd_seek(offset: bigint, whence: number) {
    const position = this.#origin(whence) + Number(offset)
    if (!(position >= 0)) return { ret: wasi.ERRNO_INVAL, offset: 0n }
    this.#position = position
    return { ret: wasi.ERRNO_SUCCESS, offset: BigInt(position) }
  }

  override fd_tell() {
    return { ret: wasi.ERRNO_SUCCESS, offset: BigInt(this.#position) }
  }

  #origin(whence: number): number {
    if (whence === wasi.WHENCE_SET) return 0
    if (whence === wasi.WHENCE_CUR) return this.#position
    return whence === wasi.WHENCE_END ? this.file.bytes.byteLength : Number.NaN
  }
}

/** What the files of a sandbox may take; counted upwards as they grow, and anew once that seems too much. */
export interface Quota {
  /** Whether `bytes` and `nodes` more may be had; counts them where they may. */
  take(bytes: number, nodes: number): boolean
}

interface Usage {
  bytes: number
  nodes: number
}

/** `measure` counts what there is; it takes a walk through all of it, so it is asked only at the limit. */
export function createQuota(most: Usage, measure: () => Usage): Quota {
  let used: Usage = { bytes: 0, nodes: 0 }
  const fits = (bytes: number, nodes: number) =>
    used.bytes + bytes <= most.bytes && used.nodes + nodes <= most.nodes

  return {
    take(bytes, nodes) {
      // What was deleted in the meantime shows in the measure alone.
      if (!fits(bytes, nodes)) used = measure()
      if (!fits(bytes, nodes)) return false
      used.bytes += bytes
      used.nodes += nodes
      return true
    },
  }
}
