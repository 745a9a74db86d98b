import { Fd, Inode, wasi } from '@bjorn3/browser_wasi_shim'
import type { Quota } from './quota.ts'

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
