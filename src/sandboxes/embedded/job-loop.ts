import { decodeFrame, encodeFrame, type Frame } from '../frames.ts'
import { isFileName, MAX_FILES } from '../sandbox.ts'
import { filesBelow, type MemoryDirectory } from './file-system.ts'
import {
  type InputStream,
  type OutputBudget,
  type OutputStream,
  readExactly,
  writeFully,
} from './wasi.ts'

const NO_ROOM = 'There is no room for the files that were to be put into the working directory\n'

interface Dependencies {
  work: MemoryDirectory
  budget: OutputBudget
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  /** Bytes of code, standard input and files that come in together. */
  maximumPayload: number
}

/** Takes jobs from standard input and gives results to standard output, one after the other, without any event loop. */
export function createJobLoop(parts: Dependencies) {
  const { work, budget, stdin, stdout, stderr, maximumPayload } = parts

  /** Waits for a job and lays out its files; the code that is to run. Ends the process where no more will come. */
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
