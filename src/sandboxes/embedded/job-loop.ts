import { readSync, writeSync } from 'node:fs'
import { Inode, wasi } from '@bjorn3/browser_wasi_shim'
import { decodeFrame, encodeFrame, type Frame } from '../frames.ts'
import { isFileName, MAX_FILES } from '../sandbox.ts'
import { filesBelow, type MemoryDirectory } from './file-system.ts'
import { InputStream, type OutputBudget, type OutputStream } from './wasi.ts'

const NO_ROOM = 'There is no room for the files that were to be put into the working directory\n'

interface Dependencies {
  work: MemoryDirectory
  budget: OutputBudget
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  /** Maximum bytes of code, standard input and files of one job together. */
  maximumPayload: number
}

type JobLoop = ReturnType<typeof createJobLoop>

/** Reads jobs from standard input and writes results to standard output, one at a time, without an event loop. */
export function createJobLoop(parts: Dependencies) {
  const { work, budget, stdin, stdout, stderr, maximumPayload } = parts

  /** Waits for a job, puts its files in place and returns its code. Ends the process when no more jobs can come. */
  function next(): string {
    for (;;) {
      const job = readFrame(maximumPayload)
      if (!job) process.exit(0)
      const [code = Buffer.alloc(0), input = Buffer.alloc(0), ...contents] = job.parts
      budget.renew()
      stdin.renew(input)
      for (const { file } of filesBelow(work)) file.changed = false
      if (place(namesOf(job.header), contents)) return code.toString()
      stderr.fd_write(Buffer.from(NO_ROOM))
      finish(1)
    }
  }

  function place(names: readonly string[], contents: readonly Uint8Array[]): boolean {
    return contents.every((bytes, index) => {
      const file = work.place(names[index] ?? '', bytes)
      if (file) file.changed = false
      return file !== undefined
    })
  }

  function finish(exitCode: number): void {
    const changed = [...filesBelow(work)].filter(({ file }) => file.changed)
    const kept = changed.filter(({ name }) => isFileName(name)).slice(0, MAX_FILES)
    const header = {
      exitCode,
      outputCut: budget.cut,
      names: kept.map(({ name }) => name),
      filesLeftOut: changed.length - kept.length,
    }
    const contents = kept.map(({ file }) => file.data)
    send(header, [stdout.drain(), stderr.drain(), ...contents])
  }

  return { next, finish, ready: () => send({ ready: true }, []) }
}

function send(header: object, parts: readonly Uint8Array[]): void {
  for (const bytes of encodeFrame(header, parts)) writeFully(bytes)
}

function readFrame(maximumPayload: number): Frame | undefined {
  const decoder = decodeFrame(maximumPayload)
  let step = decoder.next()
  while (!step.done) {
    const bytes = readExactly(step.value)
    if (!bytes) return undefined
    step = decoder.next(bytes)
  }
  return step.value
}

function namesOf(header: object): string[] {
  const names = 'names' in header && Array.isArray(header.names) ? header.names : []
  return names.map(String)
}

const STDIN = 0
const STDOUT = 1

/** Reads exactly `size` bytes of standard input; undefined once it has ended. */
function readExactly(size: number): Buffer | undefined {
  const bytes = Buffer.alloc(size)
  let read = 0
  while (read < size) {
    const count = readSync(STDIN, bytes, read, size - read, null)
    if (count === 0) return undefined
    read += count
  }
  return bytes
}

function writeFully(bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.byteLength) {
    written += writeSync(STDOUT, bytes, written)
  }
}

const LENGTH_DIGITS = 16

/**
 * The file through which the loop in the interpreter reads code and writes exit codes. It can be opened only once, by
 * that loop: `onOpen` removes it from its directory.
 */
export class Channel extends Inode {
  readonly #jobs: JobLoop
  readonly #onOpen: () => void

  constructor(jobs: JobLoop, onOpen: () => void) {
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

class OpenChannel extends InputStream {
  readonly #jobs: JobLoop

  constructor(jobs: JobLoop) {
    super()
    this.#jobs = jobs
  }

  /** Returns the length of the code in digits, then the code. */
  override fd_read(size: number) {
    if (this.isAtEnd) {
      const code = Buffer.from(this.#jobs.next())
      const length = Buffer.from(String(code.byteLength).padStart(LENGTH_DIGITS, '0'))
      this.renew(Buffer.concat([length, code]))
    }
    return super.fd_read(size)
  }

  override fd_write(data: Uint8Array) {
    this.#jobs.finish(Number.parseInt(Buffer.from(data).toString(), 10))
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength }
  }
}
