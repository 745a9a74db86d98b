import { createHash } from 'node:crypto'
import { readFileSync, readSync, writeSync } from 'node:fs'
import { endWithParent } from '@agent-server/lib/processes/job.ts'
import { Inode, PreopenDirectory, WASI, wasi } from '@bjorn3/browser_wasi_shim'
import { decodeFrame, encodeFrame, type Frame } from '../frames.ts'
import { isFileName, MAX_FILES } from '../sandbox.ts'
import { createQuota, filesBelow, MemoryDirectory, measureUsage } from './file-system.ts'
import { InputStream, OutputBudget, OutputStream, wasiImports } from './wasi.ts'

/** Passed as JSON, as the only argument of the process. */
export interface InterpreterSettings {
  interpreter: { path: string; sha256: string }
  /** Python source: the loop that runs one piece of code after the other. */
  program: string
  fileBytes: number
  outputBytes: number
  maximumPayload: number
  /** Whether to end with code 0 as soon as the interpreter could be started. */
  checkOnly: boolean
}

/**
 * The part of WebAssembly used here. TypeScript has its types only with those of browsers, which are not loaded; a
 * global declaration of ours would compete with that of a package.
 */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: {
    Module: new (bytes: Uint8Array) => object
    Instance: new (
      module: object,
      imports: Record<string, Record<string, unknown>>,
    ) => { readonly exports: Record<string, unknown> }
    Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
  }
}

/** The maximum number of files and directories. */
const MAX_NODES = 4_096
/** Ways from JavaScript to other processes and to native code; nothing here needs them. */
const FORBIDDEN = ['kill', '_kill', '_debugProcess', '_debugEnd', 'binding', 'dlopen']

const [STDIN, STDOUT] = [0, 1]

const settings: InterpreterSettings = JSON.parse(process.argv[2] ?? '')
endWithParent()
for (const name of FORBIDDEN) Reflect.deleteProperty(process, name)

const most = { bytes: settings.fileBytes, nodes: MAX_NODES }
const quota = createQuota(most, () => measureUsage(root, system.fds))
const root = new MemoryDirectory(quota)
const work = new MemoryDirectory(quota)
const preopened = new PreopenDirectory('/', new Map())
preopened.dir = root

const budget = new OutputBudget(settings.outputBytes)
const stdin = new InputStream()
const stdout = new OutputStream(budget)
const stderr = new OutputStream(budget)

/**
 * The file through which the loop in the interpreter reads code and writes exit codes. It can be opened only once, by
 * that loop.
 */
class Channel extends Inode {
  override path_open() {
    root.contents.delete('channel')
    send({ ready: true }, [])
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenChannel() }
  }

  override stat(): wasi.Filestat {
    return new wasi.Filestat(this.ino, wasi.FILETYPE_CHARACTER_DEVICE, 0n)
  }
}

const LENGTH_DIGITS = 16

class OpenChannel extends InputStream {
  /** Returns the length of the code in digits, then the code. */
  override fd_read(size: number) {
    if (this.isAtEnd) {
      const code = Buffer.from(nextCode())
      const length = Buffer.from(String(code.byteLength).padStart(LENGTH_DIGITS, '0'))
      this.renew(Buffer.concat([length, code]))
    }
    return super.fd_read(size)
  }

  override fd_write(data: Uint8Array) {
    finish(Number.parseInt(Buffer.from(data).toString(), 10))
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength }
  }
}

root.contents.set('channel', new Channel())
root.contents.set('work', work)
root.contents.set('tmp', new MemoryDirectory(quota))

const system = new WASI(
  ['python', '-I', '-B', '-c', settings.program],
  ['HOME=/work', 'TMPDIR=/tmp', 'PYTHONUTF8=1'],
  [stdin, stdout, stderr, preopened],
  { debug: false },
)
const bytes = readInterpreter(settings.interpreter)
if (settings.checkOnly) process.exit(0)
const module = new webAssembly.Module(bytes)
const instance = new webAssembly.Instance(module, { wasi_snapshot_preview1: wasiImports(system) })
const { memory, _start: start } = instance.exports
if (!(memory instanceof webAssembly.Memory) || typeof start !== 'function') {
  throw new Error('The interpreter is not a WASI program')
}
process.exit(system.start({ exports: { memory, _start: () => start() } }))

function readInterpreter({
  path,
  sha256,
}: InterpreterSettings['interpreter']): Buffer<ArrayBuffer> {
  const bytes = readFileSync(path)
  const actual = createHash('sha256').update(bytes).digest('hex')
  if (actual === sha256) return bytes
  throw new Error(`Unexpected interpreter: its SHA-256 is ${actual}`)
}

// Jobs come from standard input and results go to standard output, one at a time, without an event loop.

/** Waits for a job, puts its files in place and returns its code. Ends the process when no more jobs can come. */
function nextCode(): string {
  for (;;) {
    const job = readFrame()
    if (!job) process.exit(0)
    const [code = Buffer.alloc(0), input = Buffer.alloc(0), ...contents] = job.parts
    budget.renew()
    stdin.renew(input)
    for (const { file } of filesBelow(work)) file.changed = false
    if (place(namesOf(job.header), contents)) return code.toString()
    stderr.fd_write(Buffer.from('There is no room for the input files in the working directory\n'))
    finish(1)
  }
}

/** Returns false if there is no room. */
function place(names: readonly string[], contents: readonly Uint8Array[]): boolean {
  return contents.every((bytes, index) => {
    const file = work.place(names[index] ?? '', bytes)
    if (file) file.changed = false
    return file !== undefined
  })
}

function finish(exitCode: number): void {
  const changed = [...filesBelow(work)].filter(({ file }) => file.changed)
  const returned = changed.filter(({ name }) => isFileName(name)).slice(0, MAX_FILES)
  const header = {
    exitCode,
    outputCut: budget.cut,
    names: returned.map(({ name }) => name),
    filesLeftOut: changed.length - returned.length,
  }
  const contents = returned.map(({ file }) => file.data)
  send(header, [stdout.drain(), stderr.drain(), ...contents])
}

function send(header: object, parts: readonly Uint8Array[]): void {
  for (const bytes of encodeFrame(header, parts)) {
    for (let position = 0; position < bytes.byteLength; ) {
      position += writeSync(STDOUT, bytes, position)
    }
  }
}

/** Undefined once standard input has ended. */
function readFrame(): Frame | undefined {
  const decoder = decodeFrame(settings.maximumPayload)
  let step = decoder.next()
  while (!step.done) {
    const bytes = Buffer.alloc(step.value)
    for (let position = 0; position < bytes.length; ) {
      const count = readSync(STDIN, bytes, position, bytes.length - position, null)
      if (count === 0) return undefined
      position += count
    }
    step = decoder.next(bytes)
  }
  return step.value
}

function namesOf(header: object): string[] {
  const names = 'names' in header && Array.isArray(header.names) ? header.names : []
  return names.map(String)
}
