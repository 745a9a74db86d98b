import { Inode, wasi } from '@bjorn3/browser_wasi_shim'
import { Device } from './streams.ts'

const LENGTH_DIGITS = 16

interface Jobs {
  ready(): void
  /** Waits for the code of the next run. */
  next(): string
  finish(exitCode: number): void
}

/**
 * The file through which the loop in the interpreter reads code and writes exit codes. It can be opened
 * once, by that loop: `onOpen` takes it out of its directory.
 */
export class Channel extends Inode {
  readonly #jobs: Jobs
  readonly #onOpen: () => void

  constructor(jobs: Jobs, onOpen: () => void) {
    super()
    this.#jobs = jobs
    this.#onOpen = onOpen
  }

  override path_open() {
    this.#onOpen()
    this.#jobs.ready()
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenChannel(this.#jobs) }
  }

  override stat(): wasi.Filestat {
    return new wasi.Filestat(this.ino, wasi.FILETYPE_CHARACTER_DEVICE, 0n)
  }
}

class OpenChannel extends Device {
  readonly #jobs: Jobs
  #rest: Uint8Array = new Uint8Array(0)

  constructor(jobs: Jobs) {
    super()
    this.#jobs = jobs
  }

  /** The length of the code in digits, then the code. */
  override fd_read(size: number) {
    if (this.#rest.byteLength === 0) {
      const code = Buffer.from(this.#jobs.next())
      const length = Buffer.from(String(code.byteLength).padStart(LENGTH_DIGITS, '0'))
      this.#rest = Buffer.concat([length, code])
    }
    const data = this.#rest.subarray(0, size)
    this.#rest = this.#rest.subarray(data.byteLength)
    return { ret: wasi.ERRNO_SUCCESS, data }
  }

  override fd_write(data: Uint8Array) {
    this.#jobs.finish(Number.parseInt(Buffer.from(data).toString(), 10))
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength }
  }
}
