import { Fd, wasi } from '@bjorn3/browser_wasi_shim'

/** A character device, as the standard streams of a program are. */
export class Device extends Fd {
  override fd_filestat_get() {
    const filestat = new wasi.Filestat(0n, wasi.FILETYPE_CHARACTER_DEVICE, 0n)
    return { ret: wasi.ERRNO_SUCCESS, filestat }
  }

  override fd_fdstat_get() {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_CHARACTER_DEVICE, 0)
    fdstat.fs_rights_base = BigInt(wasi.RIGHTS_FD_READ | wasi.RIGHTS_FD_WRITE)
    return { ret: wasi.ERRNO_SUCCESS, fdstat }
  }
}

/** Standard input: what the run was given, then its end. */
export class InputStream extends Device {
  #rest: Uint8Array = new Uint8Array(0)

  renew(bytes: Uint8Array): void {
    this.#rest = bytes
  }

  override fd_read(size: number) {
    const data = this.#rest.subarray(0, size)
    this.#rest = this.#rest.subarray(data.byteLength)
    return { ret: wasi.ERRNO_SUCCESS, data }
  }
}

/** What both output streams of a run may hold together. */
export class OutputBudget {
  readonly #most: number
  #left = 0
  cut = false

  constructor(most: number) {
    this.#most = most
  }

  renew(): void {
    this.#left = this.#most
    this.cut = false
  }

  /** As much of the bytes as is still kept. */
  take(bytes: Uint8Array): Uint8Array {
    const kept = bytes.subarray(0, this.#left)
    this.#left -= kept.byteLength
    this.cut ||= kept.byteLength < bytes.byteLength
    return kept
  }
}

/** Standard output or error: kept within the budget, dropped beyond it, never refused. */
export class OutputStream extends Device {
  readonly #budget: OutputBudget
  #parts: Uint8Array[] = []

  constructor(budget: OutputBudget) {
    super()
    this.#budget = budget
  }

  override fd_write(data: Uint8Array) {
    const kept = this.#budget.take(data)
    if (kept.byteLength > 0) this.#parts.push(Uint8Array.from(kept))
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength }
  }

  /** What was written since the last time. */
  drain(): Buffer {
    const all = Buffer.concat(this.#parts)
    this.#parts = []
    return all
  }
}
